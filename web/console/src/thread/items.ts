// What the screen shows of a thread: a list of items, each with a revision that grows when it changes.

import type { wire } from "@aster/client";
import type { Thread } from "./thread.ts";

export type Media = Exclude<wire.UserMessage["content"][number], wire.TextBlock>;

interface Base {
  readonly id: number;
  /** Grows whenever something about the item changes. */
  rev: number;
  turn: string | null;
  seq: number;
}

export interface Said extends Base {
  kind: "said";
  messageId: string;
  text: string;
  media: Media[];
  how: "" | "edited" | "again" | "steered";
}

/** Text or thought of the model, as it grows. */
export interface Passage extends Base {
  kind: "passage";
  thinking: boolean;
  step: number;
  index: number;
  text: string;
  /** Where the text stood after which event, as pairs of seq and length; kept while some of it may be taken back. */
  marks: number[];
  /** What had been written here before it was taken back: shown until as much has been written anew. */
  before: string;
  done: boolean;
}

export type CallStatus = "written" | "running" | "waiting" | "done" | "failed" | "dropped";

export interface Call extends Base {
  kind: "call";
  callId: string;
  tool: string;
  input: Record<string, unknown> | null;
  status: CallStatus;
  progress: string;
  output: string | null;
  error: string | null;
  ms: number | null;
  content: NonNullable<wire.ToolResult["content"]>;
  artifacts: wire.Artifact[];
  data: Record<string, unknown> | null;
}

/** A question to a person, and what became of it. */
export interface Ask extends Base {
  kind: "ask";
  request: wire.HitlRequest;
  prompt: wire.PermissionPrompt | null;
  state: "open" | "answered" | "void";
  answer: string | null;
  feedback: string | null;
}

/** A sub-agent, with what it does folded the same way. */
export interface Agent extends Base {
  kind: "agent";
  agent: string;
  childTaskId: string;
  callId: string | null;
  description: string;
  background: boolean;
  status: wire.SubagentLifecycle["phase"];
  result: string | null;
  cost: number | null;
  inner: Thread;
}

export interface Note extends Base {
  kind: "note";
  text: string;
  tone: "quiet" | "warn" | "bad";
  progress: boolean;
}

export interface Todos extends Base {
  kind: "todos";
  todos: wire.TodoItem[];
}

export interface Planned extends Base {
  kind: "plan";
  plan: wire.PlanUpdate;
}

export interface ToldLine {
  text: string;
  /** Where there is more of it. */
  href: string | null;
}

/** Something that happened to work that outlives the turn; several of the same kind in a row are one. */
export interface Told extends Base {
  kind: "told";
  about: "work" | "worktree" | "mail" | "team" | "schedule" | "workflow" | "project" | "background";
  title: string;
  /** How it stands, or of which kind it is. */
  badge: string;
  tone: "plain" | "good" | "warn" | "bad" | "info";
  lines: ToldLine[];
  /** What was said, whole. */
  text: string;
}

export interface Totals {
  since: string;
  calls: number;
  input: number;
  output: number;
  cached: number;
  cost: number | null;
}

export interface End extends Base {
  kind: "end";
  phase: string;
  reason: string | null;
  /** What the turn said last. */
  answer: string;
  totals: Totals;
  ms: number;
}

export type Item = Said | Passage | Call | Ask | Agent | Note | Todos | Planned | Told | End;
export type Kind = Item["kind"];
export type Of<K extends Kind> = Extract<Item, { kind: K }>;
/** An item as it is begun; the thread gives it its number. */
export type Fresh<T = Item> = T extends Item ? Omit<T, "id" | "rev"> : never;
