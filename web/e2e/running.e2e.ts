// What runs in the background, in the browser: its output as it is said, and how it is stopped.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { violations } from "./harness/axe.ts";
import type { EngineProcess } from "./harness/engine.ts";
import { call, rounds, text } from "./harness/model.ts";
import { test as base, expect } from "./harness/test.ts";

const test = base.extend({ settings: [{ PERMISSION_BYPASS_ALLOWED: "true" }, { scope: "file" }] });

async function run(engine: EngineProcess, taskId: string, message: string): Promise<void> {
  const turn = await engine.client.execute({ task_id: taskId, message, permission_mode: "bypass" });
  for await (const _ of turn);
}

test("a command says what it says while it says it, over a broken connection too, and is killed", async ({
  engine,
  model,
  page,
}) => {
  const command = "echo first line; until [ -e go ]; do sleep 0.1; done; echo second line; sleep 600";
  await model.script(
    rounds("begin it", [call("bash", { command, run_in_background: true })], [text("It runs.")]),
  );
  await run(engine, "builds", "begin it");
  await page.goto("/console/running");
  const list = page.getByRole("list", { name: "In the background" });
  await list.getByText("runs", { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  // The first connection breaks after a line; the next one goes on from there.
  const said = { id: "", offset: 0, next_offset: 11, text: "first line\n" };
  const frame = `event: runtime_output\nid: 11\ndata: ${JSON.stringify(said)}\n\n`;
  await page.route(
    "**/runtime/*/stream*",
    (route) => route.fulfill({ contentType: "text/event-stream", body: frame }),
    {
      times: 1,
    },
  );
  const second = page.waitForRequest((request) => request.url().endsWith("/stream?offset=11"));
  await list.getByRole("link", { name: "echo first line" }).click();
  await second;
  const output = page.getByRole("log", { name: "Output" });
  await output.getByText("first line", { exact: false }).waitFor();
  await writeFile(join(engine.workspace, "go"), "");
  await output.getByText("second line", { exact: false }).waitFor();
  expect((await output.textContent())?.match(/first line/g)).toHaveLength(1);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Kill" }).click();
  await page.getByRole("button", { name: "Kill it" }).click();
  await page.getByText("killed", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Everything that runs" }).click();
  await page.getByText("Nothing runs in the background").waitFor();
  await page.getByRole("button", { name: "All", exact: true }).click();
  await list.getByText("killed", { exact: true }).waitFor();
});

test("a chat tells of a command in the background, and leads to what it says", async ({
  engine,
  model,
  page,
}) => {
  await model.script(
    rounds(
      "short one",
      [call("bash", { command: "echo told you", run_in_background: true })],
      [text("It runs.")],
    ),
  );
  await run(engine, "short", "short one");
  await page.goto("/console/chat/short");
  await page
    .getByRole("region", { name: "In the background" })
    .first()
    .getByRole("link", { name: "echo told you" })
    .click();
  await page.getByRole("log", { name: "Output" }).getByText("told you", { exact: false }).waitFor();
  await page.getByText("done", { exact: true }).waitFor();
});
