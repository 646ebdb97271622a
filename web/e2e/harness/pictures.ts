// Pictures of the real thing, as a visitor sees it.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { Visitor } from "./browser.ts";
import type { EngineProcess } from "./engine.ts";

export const FOLDER = process.env.SCREENSHOTS_DIR ?? join(import.meta.dirname, "../../../docs/screenshots");

export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  deviceScaleFactor: 2,
};

export async function shot(
  [browser, engine]: [Browser, EngineProcess],
  name: string,
  path: string,
  ready: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const visitor = await Visitor.enter(browser, engine, { deviceScaleFactor: 1, ...options });
  await visitor.page.goto(`/console${path}`);
  await ready(visitor.page);
  await expect.poll(() => visitor.page.getByText("Loading", { exact: true }).count()).toBe(0);
  await visitor.page.screenshot({ path: join(FOLDER, `${name}.png`) });
  await visitor.leave();
}
