// A real Chromium, and pages in it that are signed in and watched: a script that fails, a policy that is broken or a
// request to another host is a failure of the test.

import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { EngineProcess } from "./engine.ts";

const PLACES = [
  process.env.CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
const BROKEN = /Content Security Policy|TrustedHTML|TrustedScript|Uncaught/;

export function launch(): Promise<Browser> {
  const executablePath = PLACES.find((place) => place && existsSync(place));
  if (!executablePath)
    throw new Error("Install Chromium (apt-get install chromium), or say where it is: CHROMIUM=…");
  return chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--js-flags=--expose-gc"],
  });
}

export class Visitor {
  readonly problems: string[] = [];

  private constructor(
    readonly page: Page,
    readonly engine: EngineProcess,
  ) {}

  static async enter(
    browser: Browser,
    engine: EngineProcess,
    options: BrowserContextOptions & { key?: string | null } = {},
  ): Promise<Visitor> {
    const { key = engine.key, ...rest } = options;
    const context = await browser.newContext({
      baseURL: engine.url,
      viewport: { width: 1440, height: 900 },
      colorScheme: "light",
      reducedMotion: "reduce",
      permissions: ["clipboard-read", "clipboard-write"],
      ...rest,
    });
    context.setDefaultTimeout(30_000);
    if (key !== null) {
      await context.addInitScript((given) => {
        localStorage.setItem("aster.key", given);
        localStorage.setItem("aster.guide", "seen");
      }, key);
    }
    const visitor = new Visitor(await context.newPage(), engine);
    visitor.#watch();
    return visitor;
  }

  #watch(): void {
    this.page.on("pageerror", (error) => this.problems.push(error.stack ?? error.message));
    this.page.on("console", (message) => {
      if (BROKEN.test(message.text())) this.problems.push(message.text());
    });
    this.page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(this.engine.url))
        this.problems.push(`a request to ${request.url()}`);
    });
  }

  async leave(): Promise<void> {
    await this.page.context().close();
  }
}
