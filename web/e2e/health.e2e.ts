// How the engine is, from what it tells itself, and again when that changes.

import { violations } from "./harness/axe.ts";
import { expect, test } from "./harness/test.ts";

test("every part is told, and a model that fails shows without a reload", async ({ engine, model, page }) => {
  await page.goto("/console/health");
  await page.getByText("Everything works").waitFor();
  await page.getByRole("region", { name: "Slots" }).getByText("0 of").waitFor();
  await page.getByRole("region", { name: "Brain" }).getByText("sqlite").waitFor();
  await page.getByRole("region", { name: "Sandbox" }).getByText("SANDBOX=off").waitFor();
  await page.getByRole("region", { name: "Right now" }).getByText("streams open").waitFor();
  await page.getByRole("table", { name: "Endpoints" }).getByText("answers").waitFor();
  const { replica } = await engine.client.get<{ replica: string }>("/about");
  const replicas = page.getByRole("table", { name: "Replicas" });
  await replicas.getByRole("row").filter({ hasText: replica }).getByText("answers you").waitFor();
  expect(await violations(page)).toEqual([]);
  await model.script([{ match: "fail", reply: { type: "failure", status: 401 } }]);
  await engine.say("broken", "fail");
  await page.getByText("Something needs a look").waitFor();
});
