// Memory as the routes tell it: the calls, the stores by name, and where a memory's page and its origin are.

import type { wire } from "@aster/client";
import { taskOf } from "../../lib/addresses.ts";
import { engine } from "../../lib/engine.ts";

/** A record with the fields of its kind beside the common ones. */
export type Kept = wire.Record & { [field: string]: unknown };
export type Found = wire.Hit & { [field: string]: unknown };
export type Store = wire.Record["store"];

export const SEARCHED = ["episodes", "knowledge", "social", "lessons", "profile", "documents"] as const;
export type Searched = (typeof SEARCHED)[number];

export const NAMES: Record<Store, string> = {
  episodes: "Episodes",
  knowledge: "Facts",
  social: "People",
  lessons: "Lessons",
  profile: "Profile",
  documents: "Documents",
  soul: "Soul",
  working: "Notes",
};

const recordPath = (id: string, more = "") => `/memory/records/${encodeURIComponent(id)}${more}`;

/** The page of a record. */
export const recordOf = (id: string): string => recordPath(id);

/** The very place of a thread. */
export const placeOf = (taskId: string, seq: number): string =>
  seq > 0 ? `${taskOf(taskId)}?seq=${seq}` : taskOf(taskId);

export const memory = {
  search: (query: string, stores: Searched[] | null) =>
    engine.post<wire.HitList>("/memory/search", { query, limit: 20, ...(stores && { stores }) }),
  page: (query: { store?: string | null; superseded?: boolean; before?: number | null; limit?: number }) =>
    engine.get<wire.RecordPage>("/memory/records", query),
  statistics: () => engine.get<wire.StatisticsAnswer>("/memory/statistics"),
  record: (id: string) => engine.get<Kept>(recordPath(id)),
  receipt: (id: string) => engine.get<wire.FullReceipt>(recordPath(id, "/receipt")),
  history: (id: string) => engine.get<wire.RecordList>(recordPath(id, "/history")),
  correct: (id: string, fields: { [field: string]: unknown }) =>
    engine.transport.json<wire.WrittenAnswer>("PATCH", recordPath(id), { body: { fields } }),
  preview: (what: wire.ForgetBody) => engine.post<wire.PreviewAnswer>("/memory/forget/preview", what),
  forget: (what: wire.ForgetDoBody) => engine.post<wire.ForgottenAnswer>("/memory/forget", what),
  mark: (id: string, helpful: boolean) =>
    engine.post<Kept>(`/memory/lessons/${encodeURIComponent(id)}/mark`, { helpful }),
  soul: () => engine.get<wire.SoulFull>("/memory/soul/full"),
  changeSoul: (body: wire.SoulBody) =>
    engine.transport.json<wire.SoulAnswer>("PUT", "/memory/soul", { body }),
  working: (taskId: string) => engine.get<wire.EntryList>("/memory/working", { task_id: taskId }),
  contradictions: () => engine.get<wire.ContradictionList>("/memory/contradictions", { limit: 200 }),
  documents: (before: number | null) =>
    engine.get<wire.DocumentPage>("/memory/documents", { limit: 100, before }),
  ingest: (body: wire.DocumentBody) => engine.post<wire.DocumentAnswer>("/memory/documents", body),
  bundle: async () => (await engine.transport.open("GET", "/memory/export")).blob(),
  takeIn: (bundle: unknown) => engine.post<wire.ImportAnswer>("/memory/import", bundle),
};
