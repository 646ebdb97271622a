// What of a memory a person can correct: the fields of each kind, how each is written in a form, and which of them a form
// has changed.

import type { Kept } from "./memory.ts";

type Shape = "line" | "text" | "lines" | "pairs" | "number" | readonly string[];

export interface Field {
  name: string;
  label: string;
  shape: Shape;
}

const field = (name: string, label: string, shape: Shape = "line"): Field => ({ name, label, shape });

const FIELDS: Partial<Record<Kept["kind"], Field[]>> = {
  episode: [
    field("description", "What happened", "text"),
    field("speaker", "Who said it"),
    field("value", "Weight, from 0 to 1", "number"),
    field("tier", "How long it stays", ["recent", "lasting", "core"]),
  ],
  fact: [
    field("content", "What is true", "text"),
    field("subject", "About"),
    field("predicate", "What of it"),
    field("type", "Kind", ["fact", "rule", "heuristic"]),
  ],
  node: [
    field("name", "Name"),
    field("type", "Kind", ["person", "organisation", "place", "other"]),
    field("attributes", "What is known (name: value, one to a line)", "pairs"),
  ],
  edge: [field("source", "Who"), field("relation", "Relation"), field("target", "To whom or what")],
  lesson: [
    field("trigger", "When", "text"),
    field("mistake", "What went wrong", "text"),
    field("correct_pattern", "What to do instead", "text"),
    field("code_example", "Example", "text"),
    field("domains", "Domains, one to a line", "lines"),
  ],
  trait: [field("category", "Category"), field("key", "What"), field("value", "Value", "text")],
  chunk: [field("title", "Title"), field("content", "Text", "text")],
  note: [
    field("text", "Note", "text"),
    field("type", "Kind", ["note", "observation", "decision", "summary"]),
  ],
};

export const fieldsOf = (kind: Kept["kind"]): Field[] => FIELDS[kind] ?? [];

/** A value as it stands in a form. */
export function written(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.join("\n");
  if (typeof value === "object")
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${String(one)}`)
      .join("\n");
  return String(value);
}

const lines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

function pair(line: string): [string, string] {
  const at = line.indexOf(":");
  return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

/** What a form says, as the engine takes it. */
export function read(text: string, shape: Shape): unknown {
  if (shape === "lines") return lines(text);
  if (shape === "pairs") return Object.fromEntries(lines(text).map(pair));
  if (shape === "number") return Number(text);
  return text;
}

export type Draft = { [name: string]: string };

export const draftOf = (record: Kept): Draft =>
  Object.fromEntries(fieldsOf(record.kind).map(({ name }) => [name, written(record[name])]));

/** The fields in which a form differs from the record. */
export function changed(record: Kept, draft: Draft): { [name: string]: unknown } {
  const differing = fieldsOf(record.kind).filter(({ name }) => draft[name] !== written(record[name]));
  return Object.fromEntries(differing.map(({ name, shape }) => [name, read(draft[name] ?? "", shape)]));
}
