import { expect, test } from "vitest";
import { blank, bodyOf, changeOf, draftOf, dueOf } from "../src/pages/schedules/draft.ts";
import { dueWords, every, nameOf, type Schedule } from "../src/pages/schedules/schedules.ts";

const schedule = (part: Partial<Schedule>): Schedule =>
  ({
    ...{ name: "n", prompt: "p", kind: "cron", trigger: { cron: "@daily", time_zone: "UTC" }, task_id: null },
    ...{ agent: null, catch_up: "latest", jitter: false, max_runs: null },
    ...part,
  }) as Schedule;

test("how often, in the largest unit that says it whole", () => {
  expect([10, 60, 90, 3600, 7200, 86_400].map(every)).toEqual([
    "every 10 seconds",
    "every minute",
    "every 90 seconds",
    "every hour",
    "every 2 hours",
    "every day",
  ]);
});

test("when it is due, in words", () => {
  expect(dueWords(schedule({}))).toBe("@daily (UTC)");
  expect(dueWords(schedule({ kind: "interval", trigger: { seconds: 3600 } }))).toBe("every hour");
  expect(dueWords(schedule({ kind: "watch", trigger: { url: "https://x.org", seconds: 60 } }))).toBe(
    "when https://x.org answers, looked at every minute",
  );
  expect(dueWords(schedule({ kind: "watch", trigger: { command: "make", seconds: 60 } }))).toContain(
    "when make succeeds",
  );
});

test("a prompt in the place of a name shows that there is more of it", () => {
  expect(nameOf({ name: "", prompt: "Sum up\nwhat is new" })).toBe("Sum up");
  expect(nameOf({ name: "", prompt: "word ".repeat(30) })).toMatch(/^word .*word…$/);
});

test("only what its kind needs is sent, and nothing while something is missing", () => {
  expect(bodyOf(blank())).toBeNull();
  const draft = { ...blank(), prompt: "Say", zone: "UTC" };
  expect(bodyOf(draft)).toMatchObject({ cron: "0 9 * * mon-fri", time_zone: "UTC", task_id: null });
  expect(dueOf({ ...draft, kind: "interval", many: 2, unit: 60 })).toEqual({ every_seconds: 120 });
  expect(dueOf({ ...draft, kind: "once", at: "" })).toBeNull();
  expect(dueOf({ ...draft, kind: "watch", command: "true", many: 1, unit: 60 })).toEqual({
    watch: { command: "true", every_seconds: 60 },
  });
});

test("a change leaves the times alone unless they are others", () => {
  const was = schedule({});
  expect(changeOf({ ...draftOf(was), prompt: "other" }, was)).not.toHaveProperty("cron");
  expect(changeOf({ ...draftOf(was), cron: "@hourly" }, was)).toMatchObject({
    ...{ cron: "@hourly", time_zone: "UTC" },
  });
  expect(changeOf({ ...draftOf(was), cron: "@hourly" }, was)).not.toHaveProperty("task_id");
});

test("an interval is shown in the unit it was meant in", () => {
  const draft = draftOf(schedule({ kind: "interval", trigger: { seconds: 7200 } }));
  expect([draft.many, draft.unit]).toEqual([2, 3600]);
});
