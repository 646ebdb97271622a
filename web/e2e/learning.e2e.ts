// Learning as somebody watches over it: it runs while it is looked at, every change is a diff with the words it rests on,
// and is accepted, rejected or taken back; what was learned is found and forgotten, trials show their numbers.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { wire } from "@aster/client";
import type { Page } from "playwright-core";
import { violations } from "./harness/axe.ts";
import { Visitor } from "./harness/browser.ts";
import type { EngineProcess } from "./harness/engine.ts";
import { PYTHON } from "./harness/process.ts";
import { ANSWERS, finds, run, taught } from "./harness/teaching.ts";
import { test as base, expect } from "./harness/test.ts";

const test = base.extend({
  settings: [{ MEMORY_ENABLED: "true", LC_REVIEW: "true", VERIFIER: "off" }, { scope: "file" }],
});

const open = (page: Page, view = "") => page.goto(`/console/learning${view}`);
const shown = (page: Page, name: string) => page.getByRole("article").filter({ hasText: name });
/** What is remembered, but for the conversations themselves. */
const records = async (engine: EngineProcess) => {
  const { records } = await engine.client.get<{ records: { kind: string }[] }>("/memory/export");
  return JSON.stringify(records.filter(({ kind }) => kind !== "episode"));
};

test("it runs while it is watched; changes are accepted, rejected and reverted one by one", async ({
  engine,
  model,
  page,
}) => {
  await model.script(ANSWERS);
  await open(page);
  await page.getByText("Nothing was done yet").waitFor();
  await page.getByText("Nothing was learned in this time").waitFor();
  await engine.say("trip", "I live in Porto, close to the river.");
  await engine.say("units", "Please always answer in metric units.");
  await engine.say("joke", "Tell me a joke about a safe.");
  const found = {
    traits: [{ category: "root", key: "location", value: "Porto", quote: "I live in Porto", message: 1 }],
    rules: [
      { content: "Always answer in metric units.", quote: "always answer in metric units", message: 2 },
    ],
    facts: [
      {
        ...{ subject: "safe", predicate: "code", content: "The code of the safe is 1234" },
        ...{ quote: "the code of the safe is 1234", message: 3 },
      },
    ],
  };
  await model.script([finds(found, "reading"), ...ANSWERS]);
  await page.reload();
  await page.locator("dl").getByText("3", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByRole("status").filter({ hasText: "The batch begins." }).waitFor();
  await model.release("reading");
  await page.getByRole("list", { name: "What came of it" }).getByText("batch").waitFor();
  await page.getByText("1 change waits for you to accept or reject.").waitFor();
  expect(await violations(page)).toEqual([]);

  await page
    .getByRole("list", { name: "What came of it" })
    .getByRole("link", { name: "what changed" })
    .click();
  const items = page.getByRole("list", { name: "What it changes" }).getByRole("listitem");
  const porto = items.filter({ hasText: "I live in Porto" });
  const units = items.filter({ hasText: "metric units" });
  const safe = items.filter({ hasText: "1234" });
  await safe.getByText("refused", { exact: true }).waitFor();
  await porto.getByRole("button", { name: /^Accept/ }).click();
  await porto.getByText("applied", { exact: true }).waitFor();
  await units.getByRole("button", { name: /^Reject/ }).click();
  await units.getByText("rejected", { exact: true }).waitFor();
  expect(await records(engine)).toContain("Porto");
  expect(await records(engine)).not.toMatch(/1234|metric/);
  expect(await violations(page)).toEqual([]);

  await porto.getByRole("link", { name: "where you said it" }).click();
  await page.waitForURL(/\/console\/tasks\/trip\?seq=\d+$/);
  await page
    .getByLabel("The conversation as it was")
    .getByText("I live in Porto, close to the river.")
    .waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Revert all of it" }).click();
  await page.getByRole("button", { name: "Revert 1 change" }).click();
  await porto.getByText("reverted", { exact: true }).waitFor();
  expect(await records(engine)).not.toContain("Porto");
});

test("a fact that changed is a diff, and a whole night is taken back after a look at it", async ({
  engine,
  model,
  page,
}) => {
  const moved = (city: string, quote: string) => ({
    traits: [{ category: "root", key: "home", value: city, quote, message: 1 }],
  });
  await model.script([finds(moved("Braga", "my home is Braga")), ...ANSWERS]);
  await engine.say("home", "Well, my home is Braga.");
  await run(engine, "batch");
  const before = await records(engine);
  await open(page, "/changes?status=proposed");
  await page.getByRole("button", { name: "Accept all of it" }).click();
  await shown(page, "Braga").getByText("applied", { exact: true }).first().waitFor();
  await model.script([finds(moved("Faro", "my home is Faro")), ...ANSWERS]);
  await engine.say("home", "By now my home is Faro.");
  await run(engine, "batch");
  await shown(page, "Faro").getByRole("button", { name: "Accept all of it" }).click();
  const card = shown(page, "Faro");
  await card.getByText("Before:").waitFor();
  await card.locator("mark", { hasText: "Braga" }).waitFor();
  await card.locator("mark", { hasText: "Faro" }).waitFor();
  await open(page, "/changes");
  await page.getByRole("button", { name: "Revert the whole night" }).click();
  const dialog = page.getByRole("dialog");
  const doomed = dialog.getByRole("list", { name: "What would be reverted" });
  await doomed.getByText("Faro").waitFor();
  await doomed.getByText("Braga").waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Revert 2 changes" }).click();
  await page.getByText("2 changes reverted.").waitFor();
  expect(await records(engine)).toBe(before);
});

test("a lesson shows what it proved, with and without it, and goes to its replays; it is found and forgotten", async ({
  engine,
  model,
  page,
}) => {
  await taught(engine, model);
  await run(engine, "batch");
  await open(page, "/changes?status=proposed");
  await page
    .getByRole("button", { name: "Accept all of it" })
    .or(page.getByRole("button", { name: /^Accept Use uv/i }))
    .first()
    .click();
  await page.getByRole("link", { name: "its trial" }).first().waitFor();
  await run(engine, "trials");
  await open(page, "/trials");
  const trial = page
    .getByRole("list", { name: "Trials" })
    .getByRole("listitem")
    .filter({ hasText: "promoted" });
  await trial.getByText("With it", { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await trial.getByRole("link").first().click();
  const turns = page.getByRole("list", { name: "Turns it was tried on" }).getByRole("listitem");
  const turn = turns.filter({ hasText: "pack-" }).first();
  await turn.getByRole("region", { name: "With it" }).getByText("Run uv add now.").waitFor();
  await turn.getByRole("region", { name: "Without" }).getByText("Run pip install now.").waitFor();
  expect(await violations(page)).toEqual([]);
  await turn.getByRole("link", { name: "held against the original" }).first().click();
  await page.getByRole("heading", { name: "What came of it" }).waitFor();
  expect(await violations(page)).toEqual([]);

  const waiting = await engine.client.get<wire.ChangesetPage>("/learning/changesets", { status: "proposed" });
  for (const one of waiting.changesets)
    await engine.client.post(`/learning/changesets/${one.changeset_id}/accept`, {});
  await engine.say("again", "Please install packages with pip.");
  await open(page, "/learned");
  await page.getByLabel("Search what was learned").fill("uv install");
  const list = page.getByRole("list", { name: "What was learned" });
  const row = list.getByRole("listitem").filter({ hasText: "uv instead" });
  await row.getByRole("meter", { name: "Utility" }).waitFor();
  await row.getByText(/over \d turns/).waitFor();
  await row.getByText(/^1 turn/).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByLabel("Search what was learned").fill("no such thing");
  await page.getByText("Nothing learned fits").waitFor();
  await page.getByLabel("Search what was learned").fill("");
  await open(page);
  await page.getByText("turns that had something learned in their context").waitFor();
  await page.getByRole("button", { name: "Ratings", exact: true }).click();
  await page.getByText("Nothing learned was rated in this time").waitFor();
  await page.getByText("As a table").click();
  await page.getByRole("table", { name: "Utility by day" }).getByRole("row").nth(1).waitFor();
  expect(await violations(page)).toEqual([]);
  await open(page, "/learned");
  await row.getByRole("button", { name: /^Forget/ }).click();
  await page.getByRole("button", { name: /^Forget \d+ memor/ }).click();
  await row.waitFor({ state: "detached" });
});

const SET_ASIDE = `
import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=10) as db:
    db.execute("UPDATE learning_journal SET state = 'set_aside', attempts = 5, problem = 'The reply could not be read.'"
               " WHERE number = (SELECT max(number) FROM learning_journal)")
`;

test("what was set aside says why, and is tried again", async ({ engine, model, page }) => {
  await model.script(ANSWERS);
  await engine.say("odd", "Something nobody could learn from.");
  const done = spawnSync(PYTHON, ["-c", SET_ASIDE, join(engine.folder, "brain.sqlite")], {
    encoding: "utf8",
  });
  expect(done.stderr).toBe("");
  await open(page);
  await page.getByRole("link", { name: /could not be learned from/ }).click();
  await page.getByText("The reply could not be read.").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Nothing stands like that").waitFor();
  const { entries } = await engine.client.get<wire.EntryPage>("/learning/journal", { state: "waiting" });
  expect(entries.map(({ task_id }) => task_id)).toContain("odd");
});

test("every view fits a phone, and says what went wrong when the engine does not answer", async ({
  browser,
  engine,
}) => {
  const phone = await Visitor.enter(browser, engine, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
  });
  for (const view of ["", "/changes", "/learned", "/trials", "/journal", "/self-play"]) {
    await open(phone.page, view);
    await phone.page.getByRole("navigation", { name: "Views of learning" }).waitFor();
    await phone.page.waitForLoadState("domcontentloaded");
    await expect.poll(() => phone.page.getByText("Loading", { exact: true }).count()).toBe(0);
    const width = await phone.page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
  }
  await phone.page.getByText("Self-play is off. Start the engine with SELF_PLAY=true.").waitFor();
  expect(await violations(phone.page)).toEqual([]);
  await phone.page.goto("/console/learning/changes/no-such-changeset");
  await phone.page.getByRole("alert").getByText("There is no changeset").waitFor();
  await phone.page.getByRole("button", { name: "Try again" }).waitFor();
  await phone.leave();
  expect(phone.problems).toEqual([]);
});
