// How the engine is, as its routes tell: /health for everybody, /about and /metrics for the operator.

import { EngineError, type wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";
import { type Sample, samples } from "./metrics.ts";

export type Part = wire.Subsystem & { [fact: string]: unknown };

export interface Endpoint {
  endpoint: string;
  model: string;
  pools: string[];
  circuit: "closed" | "open" | "half_open";
  failures: number;
  rate_limited: boolean;
  tools: string;
  retry_after_seconds?: number;
}

export interface State {
  health: wire.Health;
  about: wire.About;
  /** Null where the key is not the operator's. */
  metrics: Sample[] | null;
  /** Null where the key is not the operator's, or they cannot be known now. */
  replicas: wire.ReplicaEntry[] | null;
}

const DRAINING: wire.Health = { status: "draining", uptime_seconds: 0, version: "", subsystems: {} };

export async function look(): Promise<State> {
  const [health, about] = await Promise.all([
    engine.health().catch(drained),
    engine.get<wire.About>("/about"),
  ]);
  if (!about.operator) return { health, about, metrics: null, replicas: null };
  const [metrics, replicas] = await Promise.all([measured(), together()]);
  return { health, about, metrics, replicas };
}

/** An engine that shuts down answers 503, and that is an answer. */
function drained(error: unknown): wire.Health {
  if (error instanceof EngineError && error.status === 503) return DRAINING;
  throw error;
}

/** Who shares the work; a replica that has lost touch with the others does not know, and that is not a failure here. */
async function together(): Promise<wire.ReplicaEntry[] | null> {
  return engine.get<wire.ReplicaList>("/replicas").then(
    ({ replicas }) => replicas,
    () => null,
  );
}

async function measured(): Promise<Sample[]> {
  return samples(await (await engine.transport.open("GET", "/metrics")).text());
}

export const partOf = (health: wire.Health, name: string): Part | null =>
  (health.subsystems[name] as Part | undefined) ?? null;

export const endpointsOf = (part: Part | null): Endpoint[] =>
  Array.isArray(part?.endpoints) ? (part.endpoints as Endpoint[]) : [];

/** A fact of a part as a word; null when it is not told. */
export function told(part: Part | null, name: string): string | null {
  const value = part?.[name];
  return value === null || value === undefined || value === "" ? null : String(value);
}
