// The first visit and what can be set: the guide, the test of the model connection, theme and key.

import { violations } from "./harness/axe.ts";
import { Visitor } from "./harness/browser.ts";
import { reply, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

test("a first visit begins with the guide, which tests the model with a real turn and is shown once", async ({
  browser,
  engine,
  model,
}) => {
  await model.script([{ match: "ready", reply: reply([text("I am ready.")]) }]);
  const visitor = await Visitor.enter(browser, engine, { key: null });
  const { page } = visitor;
  await page.goto("/console");
  await page.getByLabel("Key").fill(engine.key);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Welcome to Aster" }).waitFor();
  await page.getByText(engine.workspace).waitFor();
  await page.getByRole("button", { name: "Test the connection" }).click();
  await page.getByText("The model answers.").waitFor();
  await page.getByText("I am ready.").waitFor();
  await page.getByText("Whole turn").waitFor();
  expect(await violations(page)).toEqual([]);
  await expect.poll(async () => (await engine.client.tasks()).tasks.length).toBe(0);
  await page.getByRole("button", { name: "Skip to the chat" }).click();
  await page.getByRole("heading", { name: "What shall we do?" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "What shall we do?" }).waitFor();
  await page.goto("/console/settings");
  await page.getByRole("button", { name: "Open the guide" }).click();
  await page.getByRole("button", { name: /^Look around/ }).click();
  await page.waitForURL(/\/console\/chat\/chat-/);
  await visitor.leave();
  expect(visitor.problems).toEqual([]);
});

test("the guide that an engine opens begins where its sample files are", async ({ engine, model, page }) => {
  await model.script([{ match: "List the files", reply: reply([text("Notes, a table and a program.")]) }]);
  await page.goto("/console/settings/guide?sample");
  await page.getByRole("button", { name: /^Look around/ }).click();
  await page.waitForURL(/\/console\/chat\/first-steps$/);
  await page.getByText("Notes, a table and a program.").waitFor();
  expect((await engine.client.tasks()).tasks.map((task) => task.task_id)).toContain("first-steps");
});

test("a model that refuses is told in the engine's own words", async ({ model, page }) => {
  await model.script([{ match: "ready", reply: { type: "failure", status: 401 } }]);
  await page.goto("/console/settings");
  await page.getByRole("button", { name: "Test the connection" }).click();
  await page.getByRole("status").getByText("LLM_API_KEY").waitFor();
});

test("the theme is kept, and signing out asks for the key again", async ({ browser, engine }) => {
  const visitor = await Visitor.enter(browser, engine, { key: null });
  const { page } = visitor;
  await page.goto("/console/settings");
  await page.getByLabel("Key").fill(engine.key);
  await page.keyboard.press("Enter");
  await page.getByText("operator", { exact: true }).waitFor();
  await page.getByRole("group", { name: "Theme" }).getByRole("button", { name: "Dark" }).click();
  await page.reload();
  await page.getByText("operator", { exact: true }).waitFor();
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("dialog", { name: "Sign in" }).waitFor();
  await visitor.leave();
  expect(visitor.problems).toEqual([]);
});
