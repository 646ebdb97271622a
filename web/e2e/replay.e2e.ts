// A recorded turn run again from its time-line: with the same answers it comes to the same, with others it says where it
// took another way; nothing is run. Every replay stays listed, and the turn can be taken along as a test.

import { readdir } from "node:fs/promises";
import { violations } from "./harness/axe.ts";
import { Visitor } from "./harness/browser.ts";
import { call, rounds, text } from "./harness/model.ts";
import { test as base, expect } from "./harness/test.ts";

const test = base.extend({
  settings: [{ LLM_ALLOWED_MODELS: "other-model" }, { scope: "file" }],
});

const WRITES = rounds(
  "Write it down",
  [call("write_file", { path: "note.txt", content: "one" })],
  [text("It is in note.txt.\n\nThe end.")],
);

test("a step is run again, and the report says where it differs", async ({ engine, model, page }) => {
  await model.script(WRITES);
  await engine.say("notes", "Write it down");
  const files = await readdir(engine.workspace);
  await page.goto("/console/tasks/notes");
  await page.getByRole("link", { name: "Run this turn again" }).click();
  await page.getByRole("button", { name: "Run again" }).click();
  await page.getByText("The same calls, and the same answer.").waitFor();
  expect(await violations(page)).toEqual([]);

  await model.script(
    rounds(
      "Write it down",
      [call("write_file", { path: "note.txt", content: "one" })],
      [text("It is in another file.\n\nThe end.")],
    ),
  );
  await page.goto("/console/tasks/notes");
  await page
    .getByRole("region", { name: "Time-line" })
    .getByRole("button", { name: /^Model call 2/ })
    .click();
  await page.getByRole("link", { name: "Run again from here" }).click();
  await page.waitForURL(/\/tasks\/notes\/again\?seq=\d+$/);
  const from = page.getByLabel("From", { exact: true });
  expect(await from.locator("option:checked").textContent()).toBe("Model call 2, after write_file");
  await page.getByLabel("Model", { exact: true }).selectOption("other-model");
  await page.getByLabel("Memory", { exact: true }).selectOption({ label: "nothing" });
  await page.getByLabel("Instructions").fill("Be brief.");
  await page.getByRole("button", { name: "Run again" }).click();
  await page.getByText("At model call 2: another answer.").waitFor();
  const both = page.getByRole("table", { name: "Both runs" });
  await both.getByRole("cell", { name: "other-model" }).waitFor();
  await page.getByLabel("The answers").getByText("It is in another file.").waitFor();
  await page.getByLabel("The answers").getByText("It is in note.txt.").waitFor();
  expect(await violations(page)).toEqual([]);
  expect(await readdir(engine.workspace)).toEqual(files);

  const list = page.getByRole("table", { name: "Replays" });
  expect(await list.getByRole("row").count()).toBe(3);
  await page.getByRole("region", { name: "Replayed" }).getByRole("link", { name: "go there" }).click();
  await page.waitForURL(/\/tasks\/[^/]+\?seq=\d+$/);
  await page.getByRole("link", { name: "Begun by notes" }).waitFor();
});

test("the turn as a test is one command, and a replay that cannot be is refused in words", async ({
  browser,
  engine,
  model,
  page,
}) => {
  await model.script(WRITES);
  await engine.say("it's mine", "Write it down");
  await page.goto(`/console/tasks/${encodeURIComponent("it's mine")}/again`);
  await page.getByText("Nothing was run again yet").waitFor();
  await page.getByText(/aster export-test 'it'\\''s mine' --turn \S+/).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.goto(`/console/tasks/${encodeURIComponent("it's mine")}/again?replay=none`);
  await page.getByRole("alert").waitFor();
  const phone = await Visitor.enter(browser, engine, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
  });
  await phone.page.goto("/console/tasks/notes/again");
  await phone.page.getByRole("table", { name: "Replays" }).getByRole("link").first().click();
  await phone.page.getByRole("heading", { name: "What came of it" }).waitFor();
  const width = await phone.page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);
  await phone.leave();
  expect(phone.problems).toEqual([]);
});
