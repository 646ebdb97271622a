// Work in the browser: a board that moves by itself, dependencies, items with their history, workflows, goals, and what a
// chat tells of it all.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { violations } from "./harness/axe.ts";
import { begin, finished } from "./harness/chatting.ts";
import type { EngineProcess } from "./harness/engine.ts";
import { call, hold, reply, rounds, text } from "./harness/model.ts";
import { test as base, expect } from "./harness/test.ts";

const WORKFLOW = {
  name: "review",
  description: "Review files one by one, then sum up.",
  args: { type: "object", properties: { files: { type: "array", items: { type: "string" } } } },
  steps: [
    { do: "phase", title: "Review" },
    {
      ...{ do: "parallel", over: "{{args.files}}", item: "file", as: "reviews" },
      each: { do: "agent", label: "review {{file}}", prompt: "Review {{file}} for mistakes." },
    },
    { do: "phase", title: "Sum up" },
    { do: "agent", label: "sum up", prompt: "Put the worst first: {{reviews}}", as: "summary" },
  ],
  result: { summary: "{{summary}}" },
};

const catalog = await mkdtemp(join(tmpdir(), "aster-catalog-"));
await mkdir(join(catalog, "workflows"));
await writeFile(join(catalog, "workflows/review.json"), JSON.stringify(WORKFLOW));

const test = base.extend({ settings: [{ CATALOG_DIR: catalog, WORK_TOOLS: "on" }, { scope: "file" }] });
test.afterAll(() => rm(catalog, { recursive: true, force: true }));

interface Made {
  items: { item_id: string }[];
}

async function put(engine: EngineProcess, board: string, ...items: object[]): Promise<string[]> {
  const made = await engine.client.post<Made>("/work/items", { board, items });
  return made.items.map((item) => item.item_id);
}

const lane = (page: Page, name: string): Locator => page.getByRole("region", { name, exact: true });
const dialog = (page: Page, name: string): Locator => page.getByRole("dialog", { name });

test("work is put on a board, taken, done, and what waited for it becomes ready", async ({ page }) => {
  await page.goto("/console/work");
  await page.getByText("Nothing is on this board").waitFor();
  await page.getByRole("button", { name: "Add work" }).click();
  await page.getByLabel("What is to be done").fill("Write the schema");
  await page.getByLabel("Details").fill("Tables for **orders**.");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await lane(page, "Ready").getByText("Write the schema").waitFor();

  await page.getByRole("button", { name: "Add work" }).click();
  await page.getByLabel("What is to be done").fill("Build the API");
  await page.getByLabel("Waits for").selectOption({ label: "Write the schema" });
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await lane(page, "Blocked").getByText("Build the API").waitFor();
  expect(await violations(page)).toEqual([]);

  await page.getByRole("link", { name: "Write the schema" }).click();
  const open = dialog(page, "Write the schema");
  await open.getByText("orders", { exact: true }).waitFor();
  await open.getByRole("button", { name: "Take it" }).click();
  await open.getByText("took it", { exact: false }).waitFor();
  expect(await violations(page)).toEqual([]);
  await open.getByRole("button", { name: "Done" }).click();
  await open.getByLabel("What came of it").fill("Three tables.");
  await open.getByRole("button", { name: "It is done" }).click();
  await open.getByText("1 item became ready", { exact: false }).waitFor();
  await open.getByRole("button", { name: "Close" }).click();
  await lane(page, "Done").getByText("Write the schema").waitFor();
  await lane(page, "Ready").getByText("Build the API").waitFor();
});

test("what others do is seen without asking, and a person may do it in their place", async ({
  engine,
  page,
}) => {
  const [id = ""] = await put(engine, "shared", { subject: "Paint the fence" });
  await page.goto("/console/work?board=shared");
  await lane(page, "Ready").getByText("Paint the fence").waitFor();
  await engine.client.post(`/work/items/${id}/claim`, { owner: "somebody" });
  await lane(page, "In progress").getByText("somebody").waitFor();
  await page.getByRole("link", { name: "Paint the fence" }).click();
  const open = dialog(page, "Paint the fence");
  await open.getByRole("button", { name: "Give it back" }).click();
  await open.getByLabel("Why").fill("It rains.");
  await open.getByRole("button", { name: "Give it back" }).click();
  await open.getByText("in the owner’s place").waitFor();
  await open.getByText("It rains.").waitFor();
  await open.getByRole("button", { name: "Change" }).click();
  await open.getByLabel("Priority").fill("7");
  await open.getByRole("button", { name: "Save" }).click();
  await open.getByText("priority 7").waitFor();
  await open.getByRole("button", { name: "Take off the board" }).click();
  await open.getByRole("button", { name: "Take it off" }).click();
  await open.getByRole("button", { name: "Put it back" }).click();
  await open.getByText("put it back on the board").waitFor();
  await page.keyboard.press("Escape");
  await open.waitFor({ state: "detached" });
  await page.getByLabel("Board", { exact: true }).selectOption({ value: "main" });
  await page.waitForURL(/\/console\/work$/);
});

test("dependencies are drawn and told, and changed where they are seen", async ({ engine, page }) => {
  await put(
    engine,
    "drawn",
    { name: "a", subject: "Dig" },
    { name: "b", subject: "Pour", blocked_by: ["a"] },
    { name: "c", subject: "Build", blocked_by: ["b"] },
  );
  await page.goto("/console/work/graph?board=drawn");
  const told = page.getByRole("list", { name: "What waits for what" });
  await told.getByText("after Dig").waitFor();
  expect(await page.locator("svg path[marker-end]").count()).toBe(2);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("link", { name: "Build, blocked" }).focus();
  await page.keyboard.press("Enter");
  const open = dialog(page, "Build");
  await open.getByRole("button", { name: "Do not wait for Pour" }).click();
  await open.getByText("Nothing.", { exact: true }).waitFor();
  await open.getByLabel("Let it wait for").selectOption({ label: "Dig" });
  await open.getByRole("link", { name: "Dig" }).waitFor();
  await open.getByRole("button", { name: "Close" }).click();
  await told.getByText("after Dig").nth(1).waitFor();
});

test("a workflow is run, stopped and gone on with, agent by agent", async ({ model, page }) => {
  await model.script([
    { match: "Review b.py", reply: reply([hold("b"), text("b has a mistake.")]) },
    { match: "Review", reply: reply([text("Nothing wrong.")]) },
    { match: "worst", reply: reply([text("b.py first.")]) },
  ]);
  await page.goto("/console/work/workflows");
  await page.getByRole("list", { name: "Workflows" }).getByRole("button", { name: "Run" }).click();
  const asked = dialog(page, "Run review");
  await asked.getByLabel("Arguments").fill("{");
  await asked.getByText("This is not JSON yet.").waitFor();
  await asked.getByLabel("Arguments").fill('{"files": ["a.py", "b.py"]}');
  await asked.getByRole("button", { name: "Run" }).click();
  const phases = page.getByRole("list", { name: "Phases" });
  await phases.getByText("1 of 2").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("cancelled", { exact: true }).waitFor();
  await model.script([
    { match: "Review", reply: reply([text("b has a mistake.")]) },
    { match: "worst", reply: reply([text("b.py first.")]) },
  ]);
  await model.release("b");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("b.py first.", { exact: false }).waitFor();
  await phases.getByText("2 of 2").waitFor();
  await page.getByRole("link", { name: "All runs" }).click();
  await page.getByRole("table", { name: "Runs" }).getByText("completed").waitFor();
});

test("a goal is set above the conversation, and cleared", async ({ model, page }) => {
  await model.script([{ match: "hello", reply: reply([text("Hello.")]) }]);
  await begin(page, "hello");
  await finished(page);
  await page.getByRole("button", { name: "Goal" }).click();
  await page.getByLabel("What is to be true").fill("All tests pass.");
  await page.getByRole("button", { name: "Set the goal" }).click();
  const bar = page.getByRole("region", { name: "Goal" });
  await bar.getByText("All tests pass.").waitFor();
  await bar.getByText("not judged yet").waitFor();
  expect(await violations(page)).toEqual([]);
  await bar.getByRole("button", { name: "Clear" }).click();
  await bar.waitFor({ state: "detached" });
});

test("a chat tells what became of the board, and leads there", async ({ model, page }) => {
  await model.script([
    ...rounds(
      "plan it",
      [call("task_create", { tasks: [{ subject: "Buy paint" }, { subject: "Buy brushes" }] })],
      [text("Two things to buy.")],
    ),
  ]);
  await begin(page, "plan it");
  await finished(page);
  const card = page.getByRole("region", { name: "Put on the board" });
  await card.getByRole("link", { name: "Buy brushes" }).waitFor();
  await card.getByRole("link", { name: "Buy paint" }).click();
  await dialog(page, "Buy paint").getByText("put it on the board").waitFor();
});

test("an item gets a working directory, which is kept or removed; its branch stays", async ({
  engine,
  page,
}) => {
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", engine.workspace, ...args], { encoding: "utf8" });
  git("init", "-q");
  git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first");
  const [id = ""] = await put(engine, "trees", { subject: "Prune the hedge" });
  await page.goto(`/console/work?board=trees&item=${id}`);
  const open = dialog(page, "Prune the hedge");
  await open.getByRole("button", { name: "working directory of its own" }).click();
  await open.getByRole("button", { name: "Make it" }).click();
  const tree = open.getByRole("region", { name: "Working directory" });
  await tree.getByText("wt/prune-the-hedge", { exact: true }).waitFor();
  await tree.getByRole("button", { name: "Keep it" }).click();
  await tree.getByText("kept", { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await tree.getByRole("button", { name: "Remove it" }).click();
  await tree.getByRole("button", { name: "Remove it" }).click();
  await tree.getByRole("alert").waitFor();
  await tree.getByRole("button", { name: "Leave it" }).click();
  await open.getByRole("button", { name: "Done" }).click();
  await open.getByRole("button", { name: "It is done" }).click();
  await open.getByText("finished it").waitFor();
  await tree.getByRole("button", { name: "Remove it" }).click();
  await tree.getByRole("button", { name: "Remove it" }).click();
  await tree.waitFor({ state: "detached" });
  expect(git("branch", "--list", "wt/prune-the-hedge")).toContain("wt/prune-the-hedge");
});
