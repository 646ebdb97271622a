// How heavy the console is: what is loaded, how soon it is there, how a long thread scrolls, what a long stream leaves.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { inject } from "vitest";
import { Visitor } from "./harness/browser.ts";
import { begin, finished, say } from "./harness/chatting.ts";
import { reply, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

const MOST_GZIP = 400_000;
const FIRST_PAINT_MS = 1000;
const MOST_GROWTH = 6_000_000;

test("everything together is at most 400 kB, compressed", async () => {
  const folder = inject("consoleDir");
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  let size = 0;
  for (const entry of names.filter((name) => name.isFile())) {
    size += gzipSync(await readFile(join(entry.parentPath, entry.name))).length;
  }
  console.log(`console: ${size} bytes, compressed`);
  expect(size).toBeLessThan(MOST_GZIP);
});

test("the first paint comes within a second", async ({ browser, engine }) => {
  const paints: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const visitor = await Visitor.enter(browser, engine);
    await visitor.page.goto("/console");
    await visitor.page.getByLabel("Message", { exact: true }).waitFor();
    const paint = await visitor.page.evaluate(
      () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.POSITIVE_INFINITY,
    );
    paints.push(paint);
    await visitor.leave();
  }
  console.log(`first paint: ${paints.map(Math.round).join(", ")} ms`);
  expect(Math.min(...paints)).toBeLessThan(FIRST_PAINT_MS);
});

test("a thread of 5,000 events scrolls smoothly: only rows in sight are there", async ({ engine, page }) => {
  const task = "long-thread";
  for (let turn = 0; turn < 12; turn += 1) {
    await engine.say(task, `[[tools=25 parallel=4 tool=glob input={"pattern":"*.$round"} text=40]]`);
  }
  const { head_seq } = await engine.client.events(task, { limit: 1 });
  expect(head_seq).toBeGreaterThan(5000);
  await page.goto(`/console/chat/${task}`);
  await page.getByText("w000040", { exact: false }).last().waitFor();
  const list = page.getByLabel("Conversation");
  const frames = await list.evaluate(async (element) => {
    const gaps: number[] = [];
    let rows = 0;
    let last = performance.now();
    const step = element.scrollHeight / 120;
    for (let round = 0; round < 120; round += 1) {
      element.scrollTop = element.scrollHeight - step * (round + 1);
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      gaps.push(now - last);
      last = now;
      rows = Math.max(rows, element.querySelectorAll("section").length);
    }
    gaps.sort((a, b) => a - b);
    return { median: gaps[60] ?? 0, p95: gaps[114] ?? 0, rows, height: element.scrollHeight };
  });
  console.log(`scrolling ${head_seq} events: ${JSON.stringify(frames)}`);
  expect(frames.height).toBeGreaterThan(20_000);
  expect(frames.rows).toBeLessThan(80);
  expect(frames.median).toBeLessThan(34);
  expect(frames.p95).toBeLessThan(120);
});

test("a stream of 10,000 events leaves nothing behind but its text", async ({ engine, model, page }) => {
  const words = Array.from({ length: 3000 }, (_, at) => `w${at} ${at % 25 === 24 ? "\n\n" : ""}`).join("");
  await model.script([
    { match: "warm up", reply: reply([text("Ready **now**.\n\n```js\n1\n```")]) },
    { match: "on and on", reply: reply([text(words)], { rate: 1500 }) },
  ]);
  const task = await begin(page, "warm up");
  await page.locator("pre code span").first().waitFor();
  await finished(page);
  const session = await page.context().newCDPSession(page);
  const weigh = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    const { nodes } = await session.send("Memory.getDOMCounters");
    return { usedSize, nodes };
  };
  const before = await weigh();
  let events = 0;
  for (let turn = 1; events < 10_000; turn += 1) {
    await say(page, `on and on ${turn}`);
    await page.getByText(`on and on ${turn}`, { exact: true }).last().waitFor();
    await finished(page);
    events = (await engine.client.events(task, { limit: 1 })).head_seq;
  }
  const after = await weigh();
  console.log(
    `after ${events} events: ${after.usedSize - before.usedSize} bytes, ${after.nodes - before.nodes} nodes more`,
  );
  expect(after.usedSize - before.usedSize).toBeLessThan(MOST_GROWTH);
  expect(after.nodes - before.nodes).toBeLessThan(10_000);
});
