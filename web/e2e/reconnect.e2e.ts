// The engine or the network goes away in the middle of a stream, with the page open: the text goes on, once.

import type { Page } from "playwright-core";
import { begin, finished, say } from "./harness/chatting.ts";
import { hold, reply, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `w${String(from + at).padStart(6, "0")} `).join("");

/** Watches the answer from inside the page: how far it was shown at most, and whether it ever went back. */
async function watch(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen = { most: 0, back: 0, doubled: 0 };
    (globalThis as unknown as { seen: typeof seen }).seen = seen;
    const look = () => {
      const words = document.querySelector("main")?.textContent?.match(/w\d{6}/g) ?? [];
      if (words.length < seen.most) seen.back += 1;
      if (new Set(words).size < words.length) seen.doubled += 1;
      seen.most = Math.max(seen.most, words.length);
    };
    new MutationObserver(look).observe(document.body, {
      childList: true,
      subtree: true,
      characterData: true,
    });
  });
}

const watched = (page: Page) =>
  page.evaluate(
    () => (globalThis as unknown as { seen: { most: number; back: number; doubled: number } }).seen,
  );

test("the engine is killed in the middle of a stream and started again", async ({ engine, model, page }) => {
  await model.script([
    {
      match: "go on",
      reply: reply([text(numbered(1, 60)), hold("dead"), text(numbered(61, 120))]),
      times: 1,
    },
    { match: "go on", reply: reply([text(numbered(1, 40)), hold("slow"), text(numbered(41, 120))]) },
  ]);
  await begin(page, "go on");
  await watch(page);
  await page.getByText("w000060").waitFor();
  await engine.kill();
  await page.getByText("reconnecting").waitFor();
  expect((await watched(page)).most).toBe(60);
  await engine.restart();
  await page.getByText("The engine restarted here", { exact: false }).waitFor();
  expect(await watched(page)).toEqual({ most: 60, back: 0, doubled: 0 });
  await model.release("slow");
  await page.getByText("w000120").waitFor();
  await finished(page);
  expect(await watched(page)).toEqual({ most: 120, back: 0, doubled: 0 });
  expect(await page.locator("[data-passage]").textContent()).toBe(numbered(1, 120));
  await page.reload();
  await page.getByText("w000120").waitFor();
  expect(await page.locator("[data-passage]").textContent()).toBe(numbered(1, 120));
});

test("the network goes away and comes back", async ({ model, page }) => {
  await model.script([
    { match: "far away", reply: reply([text(numbered(1, 30)), hold("away"), text(numbered(31, 90))]) },
  ]);
  await begin(page, "far away");
  await watch(page);
  await page.getByText("w000030").waitFor();
  await page.context().setOffline(true);
  await page.getByText("The engine cannot be reached", { exact: false }).waitFor();
  await model.release("away");
  await page.context().setOffline(false);
  await page.getByText("w000090").waitFor();
  await finished(page);
  await page.getByText("The engine cannot be reached", { exact: false }).waitFor({ state: "detached" });
  expect(await watched(page)).toEqual({ most: 90, back: 0, doubled: 0 });
  await say(page, "[[text=5]]");
  await page.getByText("w000005", { exact: false }).last().waitFor();
});

test("what somebody else says in the task appears by itself", async ({ engine, model, page }) => {
  await model.script([{ match: "from here|from there", reply: reply([text("Heard.")]) }]);
  const task = await begin(page, "from here");
  await page.getByText("Heard.").waitFor();
  await finished(page);
  await model.script([
    { match: "from there", reply: reply([text("Heard "), hold("there"), text("as well.")]) },
  ]);
  const turn = await engine.client.execute({ task_id: task, message: "from there" });
  await page.getByText("from there", { exact: true }).last().waitFor();
  await model.release("there");
  await page.getByText("Heard as well.").waitFor();
  for await (const event of turn) expect(event.task_id).toBe(task);
});
