// The inbox as somebody answers it: with two keys, and told when something new waits.

import type { BrowserContext } from "playwright-core";
import { violations } from "./harness/axe.ts";
import { Visitor } from "./harness/browser.ts";
import type { EngineProcess } from "./harness/engine.ts";
import { call, type Model, rounds, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

const QUESTION = { question: "Which colour?", options: ["Blue", "Green"] };

async function script(model: Model): Promise<void> {
  await model.script([
    ...rounds("push", [call("bash", { command: "git push --force origin main" })], [text("Done with it.")]),
    ...rounds("paint", [call("ask_user", QUESTION)], [text("Painted.")]),
  ]);
}

/** Begin a turn that soon waits for a person. */
async function begin(engine: EngineProcess, taskId: string, message: string): Promise<void> {
  const turn = await engine.client.execute({ task_id: taskId, message });
  for await (const event of turn) if (event.type === "thread_lifecycle" && event.phase === "suspended") break;
}

/** What was answered in a task, in order. */
async function answers(engine: EngineProcess, taskId: string): Promise<string[]> {
  const { events } = await engine.client.events(taskId, { types: "hitl_resolved" });
  return events.map((event) => (event.type === "hitl_resolved" ? event.answer : ""));
}

test("two keys answer, whatever kind of request it is", async ({ engine, model, page }) => {
  await script(model);
  await settle(engine);
  await begin(engine, "older", "push it");
  await begin(engine, "newer", "paint it");
  await page.goto("/console/inbox");
  await page.getByRole("button", { name: /^paint it/ }).waitFor();
  expect(await page.locator("[data-card]").first().textContent()).toContain("Which colour?");
  await page.waitForFunction(() => document.title.startsWith("(2) Inbox"));
  const icon = page.locator("link[rel=icon]");
  expect(await icon.getAttribute("href")).toBe("/console/icon-waiting.svg");
  expect(await violations(page)).toEqual([]);

  await page.keyboard.press("j");
  const asked = page.locator("[data-card]", { hasText: "push it" });
  await asked.getByText("git push --force origin main").first().waitFor();
  await asked.getByRole("list", { name: "What it would do" }).waitFor();
  await page.keyboard.press("n");
  await asked.waitFor({ state: "detached" });
  expect(await answers(engine, "older")).toEqual(["no"]);

  await page.keyboard.press("k");
  await page.keyboard.press("2");
  await page.getByText("Nothing waits for you").waitFor();
  expect(await answers(engine, "newer")).toEqual(["Green"]);
  await page.waitForFunction(() => document.title === "Inbox · Aster");
  expect(await icon.getAttribute("href")).toBe("/console/icon.svg");
});

/** Nothing waits any more, whatever a test left. */
async function settle(engine: EngineProcess): Promise<void> {
  for (const { request_id } of (await engine.client.pending()).pending)
    await engine.client.respond({ request_id, answer: "no" });
}

test("an answer in words is written after Enter, and a shortcut answers nothing", async ({
  engine,
  model,
  page,
}) => {
  await script(model);
  await settle(engine);
  await begin(engine, "words", "paint it");
  await begin(engine, "kept", "push it");
  await page.goto("/console/inbox");
  await page.locator("[data-card]", { hasText: "paint it" }).waitFor();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("g");
  await page.keyboard.press("n");
  await page.waitForURL((url) => !url.pathname.endsWith("/inbox"));
  expect(await answers(engine, "kept")).toEqual([]);

  await page.goBack();
  await page.locator("[data-card]", { hasText: "paint it" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.type("Amber, with y and n in it");
  await page.keyboard.press("Enter");
  await page.locator("[data-card]", { hasText: "paint it" }).waitFor({ state: "detached" });
  expect(await answers(engine, "words")).toEqual(["Amber, with y and n in it"]);
  expect(await answers(engine, "kept")).toEqual([]);
});

/** What the page gave notice of; the browser's own notices cannot be looked at from a test. */
async function listen(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const given: string[] = [];
    const Real = globalThis.Notification;
    globalThis.Notification = class extends Real {
      constructor(title: string, options?: NotificationOptions) {
        super(title, options);
        given.push(options?.body ?? "");
      }
    };
    Object.assign(globalThis, { given });
  });
}

test("a notice is given of what is new, after somebody asked for it, also on another page", async ({
  browser,
  engine,
  model,
}) => {
  await script(model);
  await settle(engine);
  const visitor = await Visitor.enter(browser, engine, { permissions: ["notifications"] });
  const { page } = visitor;
  await listen(page.context());
  const given = () => page.evaluate(() => (globalThis as unknown as { given: string[] }).given);
  await begin(engine, "before", "paint it");
  await page.goto("/console/inbox");
  await page.getByRole("button", { name: "Notify me" }).click();
  await page.getByRole("button", { name: "Notifications are on" }).waitFor();
  await page.goto("/console/tasks");
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
  await page.waitForFunction(() => /^\(\d+\) Tasks/.test(document.title));
  await begin(engine, "after", "push it");
  await page.waitForFunction(() => (globalThis as unknown as { given: string[] }).given.length > 0);
  expect(await given()).toEqual([expect.stringContaining("bash")]);
  expect(visitor.problems).toEqual([]);
  await visitor.leave();
});
