// What an agent asks a person in the middle of a conversation, and what becomes of the answer.

import { violations } from "./harness/axe.ts";
import { begin, finished, say } from "./harness/chatting.ts";
import { call, rounds, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

test("an approval says why and what, is refused with a remark, and can be given for always", async ({
  engine,
  model,
  page,
}) => {
  await model.script([
    ...rounds("first", [call("bash", { command: "chmod -R 700 ." })], [text("Then not.")]),
    ...rounds("second", [call("bash", { command: "chmod -R 700 ." })], [text("It is done.")]),
    ...rounds("third", [call("bash", { command: "chmod -R 700 ." })], [text("And again.")]),
  ]);
  const task = await begin(page, "first");
  const ask = page.getByLabel("The agent asks you");
  await ask.getByText("Why you are asked").waitFor();
  await ask
    .locator("p", { hasText: /^May bash run\?$/ })
    .locator("code", { hasText: "bash" })
    .waitFor();
  expect(await page.getByLabel("Message", { exact: true }).getAttribute("placeholder")).toContain("waits");
  await ask.getByRole("list", { name: "What it would do" }).waitFor();
  await ask.locator("pre", { hasText: "chmod -R 700 ." }).waitFor();
  await page.getByText("waits for you", { exact: true }).first().waitFor();
  expect(await violations(page)).toEqual([]);
  await ask.getByLabel("A remark for the agent").fill("rather not");
  await ask.getByRole("button", { name: "Refuse" }).click();
  await ask.getByText("rather not").waitFor();
  await page.getByText("Then not.").waitFor();
  await finished(page);
  await say(page, "second");
  await ask.last().getByRole("button", { name: "Always in this task" }).click();
  await page.getByText("It is done.").waitFor();
  await finished(page);
  await say(page, "third");
  await page.getByText("And again.").waitFor();
  const events = await engine.client.events(task, { limit: 1000 });
  expect(events.events.filter((event) => event.type === "hitl_request")).toHaveLength(2);
});

test("a question is answered by a choice or in words", async ({ model, page }) => {
  const question = { question: "Which **colour**?", options: ["red", "blue"] };
  await model.script([
    ...rounds("choose", [call("ask_user", question)], [text("Blue it is.")]),
    ...rounds("tell", [call("ask_user", { question: "How many?" })], [text("Seven then.")]),
  ]);
  await begin(page, "choose");
  await page.getByLabel("The agent asks you").locator("strong", { hasText: "colour" }).waitFor();
  await page.getByRole("button", { name: "blue" }).click();
  await page.getByText("Blue it is.").waitFor();
  await finished(page);
  await say(page, "tell");
  await page.getByLabel("Your answer").fill("seven");
  await page.keyboard.press("Enter");
  await page.getByText("Seven then.").waitFor();
});
