// What axe finds on a page that would keep somebody from using it: nothing, in light and in dark.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const source = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const GRAVE = new Set(["serious", "critical"]);

/** Resolves when the page has followed the system's scheme, and is drawn; one with a theme of its own stays with that. */
async function themed(scheme: string): Promise<void> {
  const drawn = () => new Promise((done) => requestAnimationFrame(done));
  const follows = () => localStorage.getItem("aster.theme") === "system";
  while (follows() && document.documentElement.dataset.theme !== scheme) await drawn();
  await drawn();
  await drawn();
}

/** The serious and critical violations of the page as it is shown now, each in a line. */
export async function violations(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.evaluate(themed, scheme);
    await page.evaluate(await source);
    const results = await page.evaluate(() =>
      (globalThis as unknown as { axe: { run: () => Promise<AxeResults> } }).axe.run(),
    );
    for (const { id, impact, help, nodes } of results.violations) {
      if (GRAVE.has(impact ?? ""))
        found.push(`${scheme}: ${id}: ${help}: ${nodes.map((node) => node.html.slice(0, 200)).join(" | ")}`);
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  return found;
}
