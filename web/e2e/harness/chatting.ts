// The few things every conversation in a browser is made of.

import type { Locator, Page } from "playwright-core";

export const field = (page: Page): Locator => page.getByLabel("Message", { exact: true });

/** Say something, in a new chat or where one is open. */
export async function say(page: Page, words: string): Promise<void> {
  if (!page.url().includes("/console")) await page.goto("/console");
  await field(page).fill(words);
  await field(page).press("Enter");
}

/** A new chat with this as its first message; gives the id of its task. */
export async function begin(page: Page, words: string): Promise<string> {
  await page.goto("/console");
  await say(page, words);
  await page.waitForURL(/\/console\/chat\//);
  return decodeURIComponent(new URL(page.url()).pathname.split("/").at(-1) ?? "");
}

/** Waits for the turn that runs to be over. */
export async function finished(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
  await page.locator("header [role=status]", { hasText: "finished" }).waitFor({ state: "attached" });
}
