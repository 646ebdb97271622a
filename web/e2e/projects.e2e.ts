// Projects in the browser: made, taken apart, taken on step by step; a question of theirs answered; what came of it read.

import { violations } from "./harness/axe.ts";
import { reply, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

/** A turn that works on this step; the others are named in it, too. */
const at = (step: string): string => `in progress. \\S+ ${step}`;

test("a project is made, goes on, asks, is answered, and shows what came of it", async ({ model, page }) => {
  await model.script([
    { match: at("Buy paint"), reply: reply([text("Two tins stand in the shed.")]) },
    { match: at("Choose a colour"), reply: reply([text("HUMAN_GATE: Which colour is it to be?")]), times: 1 },
    { match: ".", reply: reply([text("Painted it blue.")]) },
  ]);
  await page.goto("/console/projects");
  await page.getByText("There is no project yet").waitFor();
  await page.getByRole("button", { name: "New project" }).click();
  await page.getByLabel("Title").fill("A new fence");
  await page.getByLabel("What it is about").fill("It should last ten years.");
  await page.getByLabel("Steps", { exact: true }).fill("20");
  await page.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("heading", { level: 1, name: "A new fence" }).waitFor();
  await page.getByText("0 of 20").waitFor();
  for (const step of ["Buy paint", "Choose a colour"]) {
    await page.getByRole("button", { name: "Add a step" }).click();
    await page.getByLabel("What is to be done").fill(step);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("list", { name: "Steps" }).getByText(step).waitFor();
  }
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "One step" }).click();
  const steps = page.getByRole("list", { name: "Steps" });
  await steps
    .getByRole("listitem")
    .filter({ hasText: "Buy paint" })
    .getByText("done", { exact: true })
    .waitFor();
  await page.getByRole("button", { name: "Go on" }).click();
  const needs = page.getByRole("region", { name: "It needs you" });
  await needs.getByText("Which colour", { exact: false }).waitFor({ timeout: 60_000 });
  expect(await violations(page)).toEqual([]);
  await needs.getByLabel("Your answer").fill("blue");
  await needs.getByRole("button", { name: "Answer and go on" }).click();
  await needs.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Artifacts" }).click();
  await page.getByRole("list", { name: "Artifacts" }).getByText("Two tins", { exact: false }).waitFor();
  await page.getByRole("link", { name: "What happened" }).click();
  await page.getByRole("table", { name: "What happened" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Archive the project" }).click();
  await page.getByRole("button", { name: "Archive it" }).click();
  await page.getByRole("status").getByText("archived", { exact: true }).waitFor();
});
