// What a person says and how: while it runs, once more, elsewhere, with files, and without losing a word.

import { begin, field, finished, say } from "./harness/chatting.ts";
import { call, hold, reply, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

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
  await finished(page);
  await page.getByRole("link", { name: "Time-line" }).click();
  await page.getByRole("link", { name: `Forked from ${task}` }).waitFor();
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
  await page.getByRole("heading", { name: "What shall we do?" }).evaluate((place) => {
    const files = new DataTransfer();
    files.items.add(new File(["a,b"], "beside.csv", { type: "text/csv" }));
    place.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
  });
  await list.getByText("beside.csv").waitFor();
  await page.getByRole("button", { name: "Remove beside.csv" }).click();
  await list.getByText("droped.png").waitFor();
  await page.getByRole("button", { name: "Remove droped.png" }).click();
  await say(page, "look");
  await page.getByText("I see.").waitFor();
  await page.getByRole("img", { name: "Attached" }).click();
  const whole = page.getByRole("dialog", { name: "Attached" });
  await whole.getByRole("img").waitFor();
  await page.keyboard.press("Escape");
  await whole.waitFor({ state: "detached" });
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
