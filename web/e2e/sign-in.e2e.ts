// The key: asked for once, refused with a sentence, kept for the next visit, sent to this engine only.

import { violations } from "./harness/axe.ts";
import { Visitor } from "./harness/browser.ts";
import { expect, test } from "./harness/test.ts";

test("a visitor without a key is asked for it, and not again", async ({ browser, engine }) => {
  const visitor = await Visitor.enter(browser, engine, { key: null });
  const { page } = visitor;
  await page.goto("/console/tasks");
  const dialog = page.getByRole("dialog", { name: "Sign in" });
  await dialog.waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByLabel("Key").fill("not the key");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Key").fill(engine.key);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: "Tasks" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Tasks" }).waitFor();
  expect(await dialog.count()).toBe(0);
  await visitor.leave();
  expect(visitor.problems).toEqual([]);
});
