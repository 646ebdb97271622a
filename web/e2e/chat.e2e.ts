// A conversation from the first message on, as somebody has it in a browser.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { violations } from "./harness/axe.ts";
import { begin, field, finished, say } from "./harness/chatting.ts";
import { call, hold, reply, rounds, text, thinking } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("an answer in Markdown with highlighted code; the thought is folded", async ({ model, page }) => {
  const answer =
    "# Primes\n\n**Two** and `three`.\n\n```python\nprint(2, 3)\n```\n\n| n | prime |\n|--|--|\n| 2 | yes |\n";
  await model.script([{ match: "primes", reply: reply([thinking("Small numbers first."), text(answer)]) }]);
  await begin(page, "Tell me about primes");
  await page.getByRole("heading", { name: "Primes" }).waitFor();
  await page.locator("pre code span", { hasText: "print" }).first().waitFor();
  await page.getByRole("cell", { name: "yes" }).waitFor();
  expect(await page.locator("strong", { hasText: "Two" }).count()).toBe(1);
  expect(await page.getByText("Small numbers first.").count()).toBe(0);
  await page.getByRole("button", { name: "Thought" }).click();
  await page.getByText("Small numbers first.").waitFor();
  await finished(page);
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
  const question = { question: "Which colour?", options: ["red", "blue"] };
  await model.script([
    ...rounds("choose", [call("ask_user", question)], [text("Blue it is.")]),
    ...rounds("tell", [call("ask_user", { question: "How many?" })], [text("Seven then.")]),
  ]);
  await begin(page, "choose");
  await page.getByRole("button", { name: "blue" }).click();
  await page.getByText("Blue it is.").waitFor();
  await finished(page);
  await say(page, "tell");
  await page.getByLabel("Your answer").fill("seven");
  await page.keyboard.press("Enter");
  await page.getByText("Seven then.").waitFor();
});

test("a running turn is stopped, steered, followed by a queued message, interrupted", async ({
  model,
  page,
}) => {
  await model.script([
    { match: "stop me", reply: reply([text("Forever "), hold("never-1")]) },
    {
      match: "count",
      round: 0,
      reply: reply([text("Counting "), hold("count"), call("bash", { command: "true" })]),
    },
    { match: "faster", reply: reply([text("Faster now.")]) },
    { match: "wait here", reply: reply([text("Waiting "), hold("queue")]) },
    { match: "after that", reply: reply([text("After that.")]) },
    { match: "talk on", reply: reply([text("Talking "), hold("never-2")]) },
    { match: "hush", reply: reply([text("Hushed.")]) },
  ]);
  await begin(page, "stop me");
  await page.getByText("Forever").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped", { exact: false }).first().waitFor();
  await finished(page);

  await say(page, "count");
  await page.getByText("Counting").waitFor();
  await say(page, "faster");
  await page.getByText("will be read at the next step").waitFor();
  await model.release("count");
  await page.getByText("Faster now.").waitFor();
  await page.getByText("said while it ran").waitFor();
  await finished(page);

  await say(page, "wait here");
  await page.getByText("Waiting", { exact: false }).last().waitFor();
  await page.getByText("Queue", { exact: true }).click();
  await say(page, "after that");
  await page.getByText("waits for its turn").waitFor();
  await model.release("queue");
  await page.getByText("After that.").waitFor();
  await finished(page);

  await say(page, "talk on");
  await page.getByText("Talking", { exact: false }).waitFor();
  await page.getByText("Interrupt", { exact: true }).click();
  await say(page, "hush");
  await page.getByText("Hushed.").waitFor();
  await finished(page);
});

test("a message is edited, asked again, and the task forked", async ({ model, page }) => {
  await model.script([
    { match: "first try", reply: reply([text("Answer one.")]), times: 1 },
    { match: "second try", reply: reply([text("Answer two.")]), times: 1 },
    { match: "second try", reply: reply([text("Answer three.")]) },
    { match: "elsewhere", reply: reply([text("In the fork.")]) },
  ]);
  const task = await begin(page, "first try");
  await page.getByText("Answer one.").waitFor();
  await finished(page);
  await page.getByText("first try", { exact: true }).last().hover();
  await page.getByRole("button", { name: "Edit and send again" }).click();
  await page.getByLabel("Your message").fill("second try");
  await page.getByLabel("Your message").press("Enter");
  await page.getByText("Answer two.").waitFor();
  await finished(page);
  await page.getByRole("button", { name: "Ask again" }).last().click();
  await page.getByText("Answer three.").waitFor();
  await finished(page);
  await page.getByRole("button", { name: "Fork from here" }).last().click();
  await page.waitForURL((url) => url.pathname.includes("/chat/") && !url.pathname.endsWith(task));
  await page.getByText("Answer three.").waitFor();
  await say(page, "elsewhere");
  await page.getByText("In the fork.").waitFor();
});

test("pictures and files come by paste, drop and button", async ({ engine, model, page }) => {
  await model.script([{ match: "look", reply: reply([text("I see.")]) }]);
  await page.goto("/console");
  const give = (kind: "paste" | "drop") =>
    field(page).evaluate(
      (area, [event, data]) => {
        const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
        const files = new DataTransfer();
        files.items.add(new File([bytes], `${event}ed.png`, { type: "image/png" }));
        const made =
          event === "paste"
            ? new ClipboardEvent("paste", { clipboardData: files, bubbles: true, cancelable: true })
            : new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true });
        area.dispatchEvent(made);
      },
      [kind, DOT] as const,
    );
  await give("paste");
  await give("drop");
  const note = { name: "notes.md", mimeType: "", buffer: Buffer.from("# Notes") };
  await page.locator("input[type=file]").setInputFiles(note);
  const list = page.getByRole("list", { name: "Attached" });
  await list.getByText("notes.md").waitFor();
  await list.getByText("droped.png").waitFor();
  await page.getByRole("button", { name: "Remove droped.png" }).click();
  await say(page, "look");
  await page.getByText("I see.").waitFor();
  await page.getByRole("img", { name: "Attached" }).waitFor();
  await page.getByText("notes.md").waitFor();
  const task = decodeURIComponent(page.url().split("/").at(-1) ?? "");
  const said = (await engine.client.events(task)).events.find((event) => event.type === "user_message");
  const kinds = (said as { content: { type: string }[] }).content.map((block) => block.type);
  expect(kinds.toSorted()).toEqual(["document", "image", "text"]);
});

test("a draft is kept on reload, per task", async ({ model, page }) => {
  await model.script([{ match: "hello", reply: reply([text("Hi.")]) }]);
  await page.goto("/console");
  await field(page).fill("half a thought");
  await page.reload();
  expect(await field(page).inputValue()).toBe("half a thought");
  await begin(page, "hello");
  await page.getByText("Hi.").waitFor();
  await field(page).fill("and another");
  await page.reload();
  await page.getByText("Hi.").waitFor();
  expect(await field(page).inputValue()).toBe("and another");
});

test("what the engine does not take is said, and nothing typed is lost", async ({ engine, model, page }) => {
  await model.script([{ match: "hello", reply: reply([text("Hi.")]) }]);
  await begin(page, "hello");
  await finished(page);
  await page.route("**/execute", (route) =>
    route.fulfill({ status: 429, json: { error: "RATE_LIMITED", message: "Too many at once." } }),
  );
  await say(page, "once more");
  await page.getByRole("alert").getByText("Too many at once.").waitFor();
  expect(await field(page).inputValue()).toBe("once more");
  expect(engine.output).not.toContain("Traceback");
});
