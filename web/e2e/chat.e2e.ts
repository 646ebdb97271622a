// What an answer looks like while it comes and when it is there: words, tool calls, lists, sub-agents.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { violations } from "./harness/axe.ts";
import { begin, finished } from "./harness/chatting.ts";
import { call, hold, reply, rounds, text, thinking } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

test("an answer in Markdown with highlighted code; the thought is folded", async ({ model, page }) => {
  const answer =
    "# Primes\n\n**Two** and `three`.\n\n```python\nprint(2, 3)\n```\n\n| n | prime |\n|--|--|\n| 2 | yes |\n";
  await model.script([{ match: "primes", reply: reply([thinking("Small numbers first."), text(answer)]) }]);
  await begin(page, "Tell me about primes");
  await page.getByRole("heading", { name: "Primes", exact: true }).waitFor();
  await page.locator("pre code span", { hasText: "print" }).first().waitFor();
  await page.getByRole("cell", { name: "yes" }).waitFor();
  expect(await page.locator("strong", { hasText: "Two" }).count()).toBe(1);
  expect(await page.getByText("Small numbers first.").count()).toBe(0);
  await page.getByRole("button", { name: "Thought" }).click();
  await page.getByText("Small numbers first.").waitFor();
  await finished(page);
  await page.getByRole("button", { name: "Copy the answer" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(answer);
  expect(await violations(page)).toEqual([]);
});

test("text is shown while it is written", async ({ model, page }) => {
  await model.script([
    { match: "slowly", reply: reply([text("The first half "), hold("half"), text("and the rest.")]) },
  ]);
  await begin(page, "Say it slowly");
  await page.getByText("The first half").waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor();
  expect(await page.getByText("and the rest.").count()).toBe(0);
  await model.release("half");
  await page.getByText("The first half and the rest.").waitFor();
  await finished(page);
});

test("a tool call is a card with live output, a change of a file is a diff", async ({
  engine,
  model,
  page,
}) => {
  await writeFile(join(engine.workspace, "a.txt"), "one\ntwo\nthree\n");
  const command = "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo ended";
  await model.script(
    rounds(
      "work",
      [call("bash", { command })],
      [call("read_file", { path: "a.txt" })],
      [call("edit_file", { path: "a.txt", old_text: "two", new_text: "zwei" })],
      [text("All done.")],
    ),
  );
  await begin(page, "work");
  const bash = page.getByLabel("Tool call bash");
  await bash.getByText("begun").last().waitFor();
  expect(await bash.getByText("ended").count()).toBeLessThan(2);
  await writeFile(join(engine.workspace, "go"), "");
  const change = page.getByLabel("Change of a.txt");
  await change.getByText("zwei").waitFor();
  await change.getByText("removed:").waitFor({ state: "attached" });
  await page.getByText("All done.").waitFor();
  await finished(page);
  expect(await readFile(join(engine.workspace, "a.txt"), "utf8")).toBe("one\nzwei\nthree\n");
  await bash.getByRole("button").click();
  await bash.getByText("ended").last().waitFor();
  expect(await violations(page)).toEqual([]);
});

test("to-do lists and plans fill as the work goes on", async ({ model, page }) => {
  const todos = (first: string) => ({
    todos: [
      { content: "Look around", status: first },
      { content: "Write it down", status: "pending" },
    ],
  });
  await model.script(
    rounds(
      "list",
      [call("todo_write", todos("in_progress"))],
      [call("todo_write", todos("completed"))],
      [text("Good.")],
    ),
  );
  await begin(page, "list");
  const list = page.getByRole("region", { name: "To do" });
  await list.getByText("1 of 2").waitFor();
  await list.getByText("Look around").waitFor();
  expect(await list.count()).toBe(1);
  await finished(page);
});

test("a sub-agent's work stands inside of it", async ({ model, page }) => {
  await model.script([
    ...rounds(
      "delegate",
      [call("spawn_agent", { prompt: "dig deep", agent: "coder" })],
      [text("It found gold.")],
    ),
    ...rounds("dig deep", [call("bash", { command: "echo digging" })], [text("Gold at **the bottom**.")]),
  ]);
  await begin(page, "delegate");
  await page.getByText("It found gold.").waitFor();
  const agent = page.getByLabel("Sub-agent coder");
  await agent.getByText("completed").waitFor();
  await agent.getByRole("button").first().click();
  await agent.getByLabel("Tool call bash").waitFor();
  await agent.locator("strong", { hasText: "the bottom" }).waitFor();
  expect(await agent.getByRole("button", { name: "Fork from here" }).count()).toBe(0);
  await finished(page);
});
