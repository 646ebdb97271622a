// What a test asks for by name: `model`, `engine` and `browser`, shared by a file; `page`, signed in, for each test.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { test as base, expect, inject } from "vitest";
import { launch, Visitor } from "./browser.ts";
import { EngineProcess, type Settings } from "./engine.ts";
import { Model } from "./model.ts";

interface Fixtures {
  /** Settings of this file's engine beyond the harness's own; give them with `test.extend`. */
  settings: Settings;
  folder: string;
  model: Model;
  engine: EngineProcess;
  browser: Browser;
  visitor: Visitor;
  page: Page;
}

export const test = base.extend<Fixtures>({
  settings: [{}, { scope: "file" }],
  folder: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest wants a pattern
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), "aster-e2e-"));
      await use(folder);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
    { scope: "file" },
  ],
  model: [
    async ({ folder }, use) => {
      const model = await Model.start(folder);
      await use(model);
      await model.child.end("SIGTERM");
    },
    { scope: "file" },
  ],
  engine: [
    async ({ folder, model, settings }, use) => {
      const asked = { LLM_PROVIDER: "openai", LLM_BASE_URL: `${model.url}/v1`, LLM_API_KEY: "scripted" };
      const engine = await EngineProcess.start(folder, {
        ...asked,
        CONSOLE_DIR: inject("consoleDir"),
        ...settings,
      });
      await use(engine);
      await engine.stop();
    },
    { scope: "file" },
  ],
  browser: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest wants a pattern
    async ({}, use) => {
      const browser = await launch();
      await use(browser);
      await browser.close();
    },
    { scope: "file" },
  ],
  visitor: async ({ browser, engine }, use) => {
    const visitor = await Visitor.enter(browser, engine);
    await use(visitor);
    await visitor.leave();
    expect(visitor.problems).toEqual([]);
  },
  page: async ({ visitor }, use) => use(visitor.page),
});

export { expect } from "vitest";
