// What a turn shows and asks besides words: pictures, plans, and whether it may go on spending.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { violations } from "./harness/axe.ts";
import { begin, finished } from "./harness/chatting.ts";
import { call, reply, rounds, text } from "./harness/model.ts";
import { test as base, expect } from "./harness/test.ts";

const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const test = base.extend({ settings: [{ BUDGET_TURN_USD: "1" }, { scope: "file" }] });

test("a picture a tool gives back is shown", async ({ engine, model, page }) => {
  await writeFile(join(engine.workspace, "dot.png"), Buffer.from(DOT, "base64"));
  await model.script([
    { match: "show", reply: reply([call("read_file", { path: "dot.png" })]), times: 1 },
    { reply: reply([text("A dot.")]) },
  ]);
  await begin(page, "show");
  await page.getByText("A dot.").waitFor();
  const picture = page.getByLabel("Tool call read_file").getByRole("img");
  await picture.waitFor();
  expect(await picture.getAttribute("src")).toMatch(/^data:image\//);
  await finished(page);
});

test("a plan is shown with its steps", async ({ model, page }) => {
  const steps = [
    { id: "a", text: "Look at it", status: "completed" },
    { id: "b", text: "Change it", status: "in_progress" },
  ];
  await model.script(
    rounds("plan", [call("update_plan", { goal: "A better thing", steps })], [text("So be it.")]),
  );
  await begin(page, "plan");
  const plan = page.getByRole("region", { name: "Plan" });
  await plan.getByText("A better thing").waitFor();
  await plan.getByText("1 of 2").waitFor();
  await plan.getByText("Change it").waitFor();
  await finished(page);
});

test("when the money of a turn is spent, a person decides whether it goes on", async ({ model, page }) => {
  const dear = { input: 900_000, output: 10 };
  const rules = rounds(
    "spend",
    [call("bash", { command: "echo 1" })],
    [call("bash", { command: "echo 2" })],
    [text("Rich.")],
  );
  await model.script(rules.map((rule) => ({ ...rule, reply: { ...rule.reply, usage: dear } })));
  await begin(page, "spend");
  const ask = page.getByLabel("The agent asks you");
  await ask.getByRole("button", { name: "Stop here" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await ask.getByRole("button", { name: "Go on" }).click();
  await page.getByText("echo 2").first().waitFor();
  await ask.getByRole("button", { name: "Go on" }).click();
  await page.getByText("Rich.").waitFor();
  await finished(page);
});

test("an error of the model is said in the thread", async ({ model, page }) => {
  await model.script([
    { match: "fail", reply: { type: "failure", status: 401 } },
    { match: "fine", reply: reply([text("Fine.")]) },
  ]);
  await begin(page, "fail");
  await page.getByRole("alert").first().waitFor();
  await page.getByText("Failed", { exact: false }).first().waitFor();
  await finished(page);
});
