// The pictures of the documentation, taken of the real thing; made only when they are asked for (make screenshots).

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { finished } from "./harness/chatting.ts";
import type { EngineProcess } from "./harness/engine.ts";
import { call, type Model, reply, rounds, text, thinking } from "./harness/model.ts";
import { PHONE, shot } from "./harness/pictures.ts";
import { test as base } from "./harness/test.ts";

const test = base.extend({ settings: [{ MEMORY_ENABLED: "true" }, { scope: "file" }] });

const CODE = `def primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


print(*primes(10))
`;

const todos = (done: number) => ({
  todos: ["Write the script", "Run it", "Explain the result"].map((content, at) => ({
    content,
    status: at < done ? "completed" : at === done ? "in_progress" : "pending",
  })),
});

const SCRIPT = [
  ...rounds(
    "first ten primes",
    [
      thinking("A short script, then run it."),
      text("I will write it, run it, and explain it."),
      call("todo_write", todos(0)),
    ],
    [call("write_file", { path: "primes.py", content: CODE })],
    [call("bash", { command: "python3 primes.py" })],
    [call("todo_write", todos(3))],
    [
      text(
        "The script is in `primes.py` and prints the first ten primes:\n\n" +
          "```text\n2 3 5 7 11 13 17 19 23 29\n```\n\nHow it works:\n\n" +
          "- It tries the numbers **one by one**, beginning with 2.\n" +
          "- A number is prime when no *smaller prime* divides it.\n\n" +
          "| count | time |\n|---|---|\n| 10 | 0.02 ms |\n| 1,000 | 21 ms |\n\n" +
          "For more than a few thousand a sieve would be the better choice.",
      ),
    ],
  ),
  ...rounds(
    "Clean up",
    [
      text("These files are not used any more."),
      call("bash", { command: "chmod -R go-rwx . && git clean -fdx" }),
    ],
    [text("Done.")],
  ),
  { match: "deploy|Compare|Summar|notes", reply: reply([text("Done, see above.")]) },
];

async function prepare(engine: EngineProcess, model: Model): Promise<void> {
  await model.script(SCRIPT);
  await mkdir(join(engine.workspace, "build"), { recursive: true });
  await writeFile(join(engine.workspace, "README.md"), "# Sample\n");
  for (const [id, said] of [
    ["deploy", "What is needed to deploy this?"],
    ["compare", "Compare the two drafts"],
    ["summary", "Summarise the meeting notes"],
    ["primes", "Write a script that prints the first ten primes, run it, and show me the output."],
  ] as const) {
    await engine.say(id, said);
  }
}

async function waiting(engine: EngineProcess): Promise<void> {
  const turn = await engine.client.execute({ task_id: "cleaning", message: "Clean up the workspace" });
  for await (const event of turn) if (event.type === "hitl_request") return;
}

const heading = (name: string) => (page: Page) => page.getByRole("heading", { level: 1, name }).waitFor();

test("the pictures", async ({ browser, engine, model }) => {
  await prepare(engine, model);
  const at: [Browser, EngineProcess] = [browser, engine];
  const said = async (page: Page) => {
    await finished(page);
    await page.getByText("the better choice", { exact: false }).waitFor();
  };
  await shot(at, "chat", "/chat/primes", said);
  await shot(at, "chat-dark", "/chat/primes", said, { colorScheme: "dark" });
  await shot(at, "chat-phone", "/chat/primes", said, PHONE);
  await waiting(engine);
  await shot(at, "approval", "/chat/cleaning", (page) =>
    page.getByRole("button", { name: "Allow" }).waitFor(),
  );
  await shot(at, "inbox", "/inbox", heading("Inbox"));
  await shot(at, "tasks", "/tasks", heading("Tasks"));
  await shot(at, "memory", "/memory", heading("Memory"));
  await shot(at, "usage", "/usage", heading("Usage"));
});
