// What was used, seen and bounded: the chart with its table, where it went, a budget set, changed and dropped.

import { violations } from "./harness/axe.ts";
import { expect, test } from "./harness/test.ts";

test("usage is drawn by day with the numbers behind it, and told by model and task", async ({
  engine,
  page,
}) => {
  await engine.say("costly", "Write something. [[text=50]]");
  await page.goto("/console/usage");
  await page.getByText("As a table").click();
  const days = page.getByRole("table", { name: "Usage by day" });
  await days.getByRole("cell", { name: "1", exact: true }).waitFor();
  await page.getByRole("table", { name: "Usage by model" }).getByText("gpt-4o").waitFor();
  await page.getByRole("group", { name: "By", exact: true }).getByRole("button", { name: "Task" }).click();
  const tasks = page.getByRole("table", { name: "Usage by task" });
  expect(await tasks.getByRole("link").first().getAttribute("href")).toBe("/console/tasks/costly");
  await page.getByRole("button", { name: "Everybody" }).click();
  await page.getByRole("group", { name: "By", exact: true }).getByRole("button", { name: "User" }).click();
  await page.getByRole("table", { name: "Usage by user" }).getByText("default").waitFor();
  expect(await violations(page)).toEqual([]);
});

test("a budget is set, changed and dropped", async ({ page }) => {
  await page.goto("/console/usage");
  await page.getByText("No budget is set").waitFor();
  await page.getByRole("button", { name: "Set a budget" }).click();
  await page.getByLabel("Limit in US dollars").fill("5");
  await page.getByRole("button", { name: "Save" }).click();
  const budgets = page.getByRole("list", { name: "Budgets" });
  await budgets.getByText("of $5.00").waitFor();
  await budgets.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("Limit in US dollars").fill("7.5");
  await page.getByRole("button", { name: "Save" }).click();
  await budgets.getByText("of $7.50").waitFor();
  expect(await violations(page)).toEqual([]);
  await budgets.getByRole("button", { name: "Drop" }).click();
  await page.getByText("No budget is set").waitFor();
});
