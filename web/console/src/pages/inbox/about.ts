// What is worth knowing about a request beyond itself: the task it is in and what a call would do. Asked for once.

import type { AsterEvent, wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";

export interface About {
  title: string;
  parent: string | null;
  effects: string[];
}

const MOST = 200;
const known = new Map<string, Promise<About>>();

export function aboutRequest(request: wire.Pending): Promise<About> {
  const { request_id: id } = request;
  const found = known.get(id) ?? read(request);
  known.set(id, found);
  found.catch(() => known.delete(id));
  return found;
}

async function read(request: wire.Pending): Promise<About> {
  const task = await engine.task(request.task_id);
  const begins = task.turns.find((turn) => turn.turn_id === request.turn_id)?.first_seq ?? 1;
  return {
    title: task.title || request.task_id,
    parent: task.parent_task_id ?? null,
    effects: request.kind === "permission" ? await effects(request, begins - 1) : [],
  };
}

async function effects(request: wire.Pending, after: number): Promise<string[]> {
  const query = { types: "permission_prompt", after_seq: after, limit: MOST, subagents: false };
  const page = await engine.events(request.task_id, query);
  for (const event of page.events as AsterEvent[]) {
    if (event.type === "permission_prompt" && event.request_id === request.request_id)
      return event.effects ?? [];
  }
  return [];
}
