import { expect, test } from "vitest";
import { before, changes } from "../src/pages/teams/plans.tsx";
import { talk, toneOf } from "../src/pages/teams/talk.ts";
import type { Mail, Request } from "../src/pages/teams/teams.ts";

const mail = (number: number, part: Partial<Mail>): Mail =>
  ({
    ...{ number, message_id: `m${number}`, sender: "ada", recipient: "lead", type: "message", content: "hi" },
    ...{ created_at: "2026-01-01T00:00:00.000Z", acked_at: null },
    ...part,
  }) as Mail;

test("mail is a conversation: oldest first, and what went to several is said once", () => {
  const said = talk([
    mail(3, { sender: "person", recipient: "grace", type: "broadcast", content: "all" }),
    mail(2, { sender: "person", recipient: "ada", type: "broadcast", content: "all", acked_at: "x" }),
    mail(1, {}),
  ]);
  expect(said.map(({ sender, recipients, heard }) => [sender, recipients, heard])).toEqual([
    ["ada", ["lead"], 0],
    ["person", ["ada", "grace"], 1],
  ]);
});

test("the same words twice to the same one are two messages", () => {
  expect(talk([mail(1, {}), mail(2, {})])).toHaveLength(2);
});

test("members have colours of their own, others the one that is left", () => {
  const members = ["ada", "grace"];
  expect(toneOf("ada", members)).not.toBe(toneOf("grace", members));
  expect(toneOf("lead", members)).toBe("other");
});

const plan = (id: string, at: number, part: Partial<Request> = {}): Request =>
  ({
    ...{ request_id: id, member: "ada", item_id: "i", content: "", created_at: `2026-01-01T00:00:0${at}Z` },
    ...part,
  }) as Request;

test("a plan is held against the one before it, of the same member for the same work", () => {
  const now = plan("now", 5);
  const all = [now, plan("old", 1), plan("newer", 3), plan("other", 4, { member: "grace" })];
  expect(before(now, all)?.request_id).toBe("newer");
  expect(before(plan("first", 0), all)).toBeNull();
});

test("what changed in a plan, line by line", () => {
  expect(changes("a\nb\n", "a\nc\n")).toEqual([
    { kind: "same", text: "a" },
    { kind: "drop", text: "b" },
    { kind: "add", text: "c" },
  ]);
});
