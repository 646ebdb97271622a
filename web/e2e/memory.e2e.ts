// Memory as somebody puts it right: found with its reasons, corrected, followed to where it was said, forgotten.

import type { wire } from "@aster/client";
import type { Page } from "playwright-core";
import { violations } from "./harness/axe.ts";
import type { EngineProcess } from "./harness/engine.ts";
import { test as base, expect } from "./harness/test.ts";

const test = base.extend({ settings: [{ MEMORY_ENABLED: "true" }, { scope: "file" }] });

async function remember(
  engine: EngineProcess,
  kind: string,
  fields: object,
  more: object = {},
): Promise<string> {
  const written = await engine.client.post<wire.WrittenAnswer>("/memory/records", { kind, fields, ...more });
  return written.record.id;
}

const view = async (page: Page, name: string) => {
  await page.goto("/console/memory");
  await page.getByRole("navigation", { name: "Views of memory" }).getByRole("link", { name }).click();
};

test("a memory is found with its reasons, corrected in its place, and its receipt goes to the very event", async ({
  engine,
  page,
}) => {
  await engine.say("trip", "Ada moved. [[text=3]]");
  const from = { task_id: "trip", first_seq: 2, last_seq: 3 };
  await remember(engine, "fact", { subject: "Ada", predicate: "home", content: "Ada lives in Porto" }, from);
  await page.goto("/console/memory");
  await page.getByLabel("Search memory").fill("where does Ada live");
  const found = page.getByRole("list", { name: "Found", exact: true });
  await found.getByRole("meter", { name: "words" }).first().waitFor();
  expect(await violations(page)).toEqual([]);
  await found.getByRole("link", { name: "Ada lives in Porto" }).click();
  await page.getByRole("button", { name: "Correct" }).click();
  await page.getByLabel("What is true").fill("Ada lives in Lisbon");
  await page.getByRole("button", { name: "Save the correction" }).click();
  await page.getByRole("heading", { name: "What it was before" }).waitFor();
  await page.getByRole("link", { name: "Ada lives in Porto" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("link", { name: "Go to where it was said" }).click();
  await page.waitForURL(/\/console\/tasks\/trip\?seq=2$/);
});

test("forgetting shows first what goes along, then does it", async ({ engine, page }) => {
  const fact = await remember(engine, "fact", { content: "The safe code is blue" });
  await remember(engine, "episode", { description: "We spoke about the safe" }, { derived_from: [fact] });
  await page.goto(`/console/memory/records/${fact}`);
  await page.getByRole("button", { name: "Forget" }).click();
  const dialog = page.getByRole("dialog", { name: "Forget this?" });
  await dialog.getByText("We spoke about the safe").waitFor();
  await dialog.getByText("derived from it").waitFor();
  await dialog.getByRole("button", { name: "Forget 2 memories for good" }).click();
  await page.waitForURL(/\/console\/memory$/);
  const left = await engine.client.get<wire.RecordPage>("/memory/records");
  expect(left.records.map(({ text }) => text)).not.toContain("The safe code is blue");
});

test("the social graph is drawn and listed, and goes to records", async ({ engine, page }) => {
  await remember(engine, "edge", { source: "Bruno", relation: "WORKS_AT", target: "Northwind" });
  await view(page, "People");
  const drawing = page.getByLabel("The social graph; the list below says the same");
  await drawing.getByRole("link", { name: /^Bruno/ }).waitFor();
  const list = page.getByRole("table", { name: "People and things with their relations" });
  await list.getByRole("link", { name: "works at Northwind", exact: true }).waitFor();
  const before = await drawing.getAttribute("viewBox");
  await page.getByRole("button", { name: "Closer" }).click();
  await expect.poll(() => drawing.getAttribute("viewBox")).not.toBe(before);
  expect(await violations(page)).toEqual([]);
  const bruno = drawing.getByRole("link", { name: /^Bruno/ });
  const moved = await drawing.getAttribute("viewBox");
  await bruno.locator("circle").hover();
  await page.mouse.down();
  await page.mouse.move(400, 500, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => drawing.getAttribute("viewBox")).not.toBe(moved);
  expect(page.url()).toMatch(/\/memory\/people$/);
  await bruno.click();
  await page.waitForURL(/\/memory\/records\/node-/);
});

test("lessons are marked, the soul gets a version, and what changed is told", async ({ engine, page }) => {
  await remember(engine, "lesson", { trigger: "reading a CSV", correct_pattern: "read it as text" });
  await view(page, "Lessons");
  await page.getByRole("button", { name: "It helped" }).click();
  await page.getByRole("button", { name: "It helped" }).filter({ hasText: "1" }).waitFor();
  await view(page, "Soul");
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("Identity").fill("A calm colleague.");
  await page.getByRole("button", { name: "Save as a new version" }).click();
  await page.getByText("Version 1").waitFor();
  expect((await engine.client.get<wire.SoulAnswer>("/memory/soul")).identity).toBe("A calm colleague.");
  await view(page, "Contradictions");
  await page
    .getByText("Nothing contradicts anything")
    .or(page.getByRole("list", { name: "Contradictions" }))
    .waitFor();
  expect(await violations(page)).toEqual([]);
});

test("notes of a task and documents are shown and forgotten; all of it is taken along and in", async ({
  engine,
  page,
}) => {
  await engine.say("notes", "Hello. [[text=3]]");
  await remember(engine, "note", { text: "Budget is 900" }, { task_id: "notes", first_seq: 1, last_seq: 2 });
  await page.goto("/console/memory/working?task=notes");
  await page.getByText("Budget is 900").waitFor();
  await view(page, "Documents");
  await page.getByRole("button", { name: "Add a document" }).click();
  await page.getByLabel("Name").fill("handbook.md");
  await page.getByLabel("Text").fill("We review within a day.");
  await page.getByRole("button", { name: "Remember it" }).click();
  await page.getByRole("button", { name: "Forget handbook.md" }).waitFor();
  expect(await violations(page)).toEqual([]);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export" }).click(),
  ]);
  await page.getByRole("button", { name: "Forget handbook.md" }).click();
  await page.getByRole("button", { name: "Forget 1 memory for good" }).click();
  await page.getByText("No documents yet").waitFor();
  await page.getByLabel("A file with an exported memory").setInputFiles(await file.path());
  await page.getByText(/^1 memory taken in/).waitFor();
  await page.getByRole("button", { name: "Forget handbook.md" }).waitFor();
});
