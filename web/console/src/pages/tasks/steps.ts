// What a time-line is made of: turns, and in each what took time, with when it began and ended in milliseconds.

import type { wire } from "@aster/client";

interface Span {
  key: string;
  seq: number;
  from: number;
  /** Null while it lasts. */
  to: number | null;
}

/** One call of a model. */
export interface ModelStep extends Span {
  kind: "model";
  step: number;
  model: string;
  purpose: string;
  usage: wire.Usage | null;
  /** The seq of its context manifest, by which the call is named. */
  call: number | null;
  blocks: wire.ContentBlockStop["block"][];
  /** Why its answer was taken back, if it was. */
  discarded: string | null;
}

export interface ToolStep extends Span {
  kind: "tool";
  callId: string;
  tool: string;
  input: Record<string, unknown>;
  attempt: number;
  result: wire.ToolResult | null;
}

/** A person was waited for. */
export interface WaitStep extends Span {
  kind: "wait";
  request: wire.HitlRequest;
  answer: string | null;
  feedback: string | null;
}

export interface AgentStep extends Span {
  kind: "agent";
  childTurnId: string;
  childTaskId: string;
  agent: string;
  description: string;
  status: wire.SubagentLifecycle["phase"];
  cost: number | null;
  result: string | null;
}

/** Something worth knowing that took no time of its own. */
export interface Remark extends Span {
  kind: "remark";
  text: string;
  tone: "plain" | "warn" | "bad";
}

export type Step = ModelStep | ToolStep | WaitStep | AgentStep | Remark;
export type StepKind = Step["kind"];
export type StepOf<K extends StepKind> = Extract<Step, { kind: K }>;

export interface TurnLine {
  id: string;
  /** Its first and its newest seq. */
  seq: number;
  lastSeq: number;
  from: number;
  to: number | null;
  /** When something last happened in it. */
  seen: number;
  said: string;
  phase: wire.Phase;
  reason: string | null;
  steps: Step[];
  calls: number;
  input: number;
  cached: number;
  output: number;
  cost: number | null;
}

/** The part of the prompt that came from the provider's cache, in per cent; null when nothing was counted. */
export function cacheShare({ input, cached }: { input: number; cached: number }): number | null {
  return input > 0 ? Math.round((100 * cached) / input) : null;
}
