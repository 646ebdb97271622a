// The tasks as somebody looks through them: the list, and one task in all its views.

import type { Page } from "playwright-core";
import { violations } from "./harness/axe.ts";
import type { EngineProcess } from "./harness/engine.ts";
import { call, hold, type Model, reply, rounds, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

/** A task of two turns: the first looks into a file and asks before it changes the past, the second only talks. */
async function worked(engine: EngineProcess, model: Model, taskId: string): Promise<void> {
  await model.script([
    ...rounds(
      "tidy up",
      [text("I look around first."), call("glob", { pattern: "*" })],
      [call("bash", { command: "git push --force origin main" })],
      [text("Left **as it was**.")],
    ),
    ...rounds("and now", [text("Nothing more to do.")]),
  ]);
  const turn = await engine.client.execute(
    { task_id: taskId, message: "Please tidy up" },
    { onRequest: async ({ request_id }) => ({ request_id, answer: "no" }) },
  );
  for await (const _ of turn);
  await engine.say(taskId, "and now?");
}

test("the list is searched, filtered, renamed, deleted from, and says what a task cost", async ({
  engine,
  model,
  page,
}) => {
  await model.script([{ reply: { type: "reply", parts: [text("Good.")] } }]);
  await engine.say("list-apples", "Count the apples");
  await engine.say("list-pears", "Count the pears");
  await page.goto("/console/tasks");
  await row(page, "Count the apples").getByText("$").waitFor();
  expect(await violations(page)).toEqual([]);

  await page.keyboard.press("/");
  await page.keyboard.type("PEARS");
  await row(page, "Count the apples").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Running" }).click();
  await page.getByText("No task fits").waitFor();
  await page.getByRole("button", { name: "All", exact: true }).click();

  await row(page, "Count the pears").getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("Title").fill("Fruit");
  await page.keyboard.press("Enter");
  await row(page, "Fruit").waitFor();
  expect((await engine.client.task("list-pears")).title).toBe("Fruit");

  await row(page, "Fruit").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep it" }).click();
  await row(page, "Fruit").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await row(page, "Fruit").waitFor({ state: "detached" });
  await expect(engine.client.task("list-pears")).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });

  await page.getByLabel("Search tasks").fill("");
  await row(page, "Count the apples").getByRole("button", { name: "Open in chat" }).click();
  await page.waitForURL("**/console/chat/list-apples");
});

test("more tasks than a page has are shown on demand", async ({ engine, model, page }) => {
  await model.script([{ reply: { type: "reply", parts: [text("Good.")] } }]);
  for (let n = 0; n < 51; n += 1) await engine.say(`many-${n}`, `Many of them ${n}`);
  await page.goto("/console/tasks");
  await page.getByLabel("Search tasks").fill("Many of them");
  const rows = row(page, "Many of them");
  await page.getByRole("button", { name: "Show more" }).click();
  await rows.nth(50).waitFor();
  expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
});

test("the time-line shows every step, what was sent, what came, and who was waited for", async ({
  engine,
  model,
  page,
}) => {
  await worked(engine, model, "line");
  await page.goto("/console/tasks/line");
  const step = (name: RegExp) => page.getByRole("button", { name });
  await page.getByRole("heading", { name: "and now?" }).waitFor();
  await step(/^Waited for permission.*→ no/).waitFor();
  await step(/^bash git push/).waitFor();
  await step(/^Model call 1 → glob/).click();
  const sent = page.getByRole("region", { name: "What was sent" });
  await sent.getByText("stock prompt").waitFor();
  await page.getByRole("region", { name: "What came" }).getByText("I look around first.").waitFor();
  expect(await violations(page)).toEqual([]);

  const first = page.getByRole("region", { name: "Turn 1" });
  await first.getByRole("button", { name: "Bad" }).click();
  await page.getByLabel("In words").fill("It should have asked sooner.");
  await page.getByRole("button", { name: "Save" }).click();
  await first.getByText("It should have asked sooner.").waitFor();
  await page.reload();
  await first.getByText("It should have asked sooner.").waitFor();
  expect(await first.getByRole("button", { name: "Bad" }).getAttribute("aria-pressed")).toBe("true");
});

test("the time-line grows while the task works", async ({ engine, model, page }) => {
  await model.script([{ match: "slowly", reply: reply([text("First. "), hold("gate"), text("Last.")]) }]);
  const turn = await engine.client.execute({ task_id: "live", message: "Answer slowly" });
  await page.goto("/console/tasks/live");
  const step = page.getByRole("button", { name: /^Model call 1/ });
  await step.getByText("…", { exact: true }).waitFor();
  await model.release("gate");
  await step.getByText("First. Last.").waitFor();
  await page.getByRole("region", { name: "Turn 1" }).getByText("completed").waitFor();
  for await (const _ of turn);
});

test("any two model calls are compared", async ({ engine, model, page }) => {
  await worked(engine, model, "compared");
  await page.goto("/console/tasks/compared/context");
  const calls = await engine.client.get<{ calls: { call: number }[] }>("/tasks/compared/context");
  const oldest = calls.calls.at(-1)?.call;
  await page.getByLabel(`Call ${oldest} as A`).check();
  await page.getByRole("heading", { name: `Call ${oldest} and call ${calls.calls[0]?.call}` }).waitFor();
  await row(page, "history").getByText("added").waitFor();
  expect(await violations(page)).toEqual([]);
});

test("the scrubber shows the conversation as it was, and a fork begins there", async ({
  engine,
  model,
  page,
}) => {
  await worked(engine, model, "past");
  await page.goto("/console/tasks/past/replay");
  const conversation = page.getByRole("region", { name: "The conversation as it was" });
  await conversation.getByText("Nothing more to do.").waitFor();
  const handle = page.getByLabel("Place on the thread");
  await handle.focus();
  await page.keyboard.press("Home");
  await page.getByText("before the beginning", { exact: true }).waitFor();
  expect(await conversation.getByText("Please tidy up").count()).toBe(0);
  await page.reload();
  await page.getByText("before the beginning", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Play" }).click();
  await conversation.getByText("Nothing more to do.").waitFor();
  await handle.focus();
  await page.keyboard.press("Home");
  await page.getByRole("button", { name: "The turn after" }).click();
  await page.getByRole("button", { name: "The turn after" }).click();
  await conversation.getByText("as it was").waitFor();
  expect(await conversation.getByText("Nothing more to do.").count()).toBe(0);
  expect(await violations(page)).toEqual([]);

  await page.getByRole("button", { name: "The turn before" }).click();
  await page.keyboard.press("ArrowRight");
  await page.reload();
  expect(new URL(page.url()).searchParams.get("seq")).toBe("1");
  await page.getByRole("button", { name: "The turn after" }).click();
  await page.getByRole("button", { name: "Fork from here" }).click();
  await page.waitForURL(/\/console\/chat\/(?!past)/);
  await page.getByText("as it was").waitFor();
  expect(await page.getByText("Nothing more to do.").count()).toBe(0);
});

test("a thread of 5,000 events is dragged through without a stumble", async ({ engine, page }) => {
  for (let turn = 0; turn < 12; turn += 1) {
    await engine.say("long", `[[tools=25 parallel=4 tool=glob input={"pattern":"*.$round"} text=40]]`);
  }
  const { head_seq: head } = await engine.client.task("long");
  expect(head).toBeGreaterThan(5000);
  await page.goto("/console/tasks/long/replay");
  await page.getByText(`of ${head.toLocaleString("en")}`).waitFor();
  const frames = await page.getByLabel("Place on the thread").evaluate(async (element) => {
    const handle = element as HTMLInputElement;
    const whole = Number(handle.max);
    const times: number[] = [];
    for (let n = 0; n < 60; n += 1) {
      const begun = performance.now();
      handle.value = String(Math.round(whole * Math.abs(1 - n / 30)));
      handle.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - begun);
    }
    return times.sort((one, other) => one - other);
  });
  const [median = 0, late = 0] = [frames[30], frames[54]];
  console.log(
    `dragging through ${head} events: ${median.toFixed(0)} ms, at the 90th per cent ${late.toFixed(0)} ms`,
  );
  expect(median).toBeLessThan(50);
  expect(late).toBeLessThan(150);
});

test("artifacts are looked at and taken home; events are found", async ({ engine, model, page }) => {
  await model.script(rounds("count", [call("bash", { command: "seq 1 60000" })], [text("Counted.")]));
  await engine.say("kept", "count");
  await page.goto("/console/tasks/kept/artifacts");
  await page.getByRole("button", { name: /^View/ }).click();
  const contents = page.getByRole("dialog").locator("pre");
  await contents.getByText("Show more").click();
  await contents.getByText("12345").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("dialog").getByRole("button", { name: "Download" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/bash/);
  await page.keyboard.press("Escape");

  await page.getByRole("link", { name: "Events" }).click();
  await page.getByLabel("Kind of event").selectOption("usage");
  await page.getByRole("status").getByText("2 events").waitFor();
  await page.getByLabel("Search events").fill("end_turn");
  await page.getByRole("status").getByText("1 event").waitFor();
  await page.getByRole("button", { name: /usage/ }).click();
  await page.locator("pre", { hasText: '"stop_reason": "end_turn"' }).waitFor();
  expect(await violations(page)).toEqual([]);
});

test("a sub-agent's task is reached from its parent", async ({ engine, model, page }) => {
  await model.script([
    ...rounds("hand over", [call("spawn_agent", { prompt: "measure the room" })], [text("It is large.")]),
    ...rounds("measure the room", [text("Ten metres.")]),
  ]);
  await engine.say("parent", "hand over");
  await page.goto("/console/tasks/parent/agents");
  await page.getByText("Cost in all").waitFor();
  await row(page, "measure the room").getByRole("link").first().click();
  await page.getByRole("link", { name: "Begun by parent" }).waitFor();
  await page.getByRole("button", { name: /Model call 1 Ten metres/ }).waitFor();
});
