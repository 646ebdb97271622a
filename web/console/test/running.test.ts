import { expect, test } from "vitest";
import { joined } from "../src/pages/running/output.ts";
import { lasted, type RuntimeTask } from "../src/pages/running/runtime.ts";
import { plainly } from "../src/pages/running/terminal.tsx";

test("only the newest of a very long output is kept", () => {
  expect(joined("abc", "def", 4)).toBe("cdef");
});

test("colours and movements are left out; a line written over is shown as it was left", () => {
  const sign = String.fromCharCode(27);
  expect(plainly(`${sign}[31mred${sign}[0m\r\n10 %\r50 %\r100 %\nend`)).toBe("red\n100 %\nend");
});

test("how long it ran, or has been running", () => {
  const task = (ended_at: string | null) =>
    ({ started_at: "2026-01-01T00:00:00Z", ended_at }) as unknown as RuntimeTask;
  expect(lasted(task("2026-01-01T00:01:05Z"))).toBe("1 min 5 s");
  expect(lasted(task(null), Date.parse("2026-01-01T00:00:12Z"))).toBe("12 s");
});
