// Every page of the console: it opens by its address and by the keyboard, anybody can use it, and it fits a phone.

import type { Page } from "playwright-core";
import { violations } from "./harness/axe.ts";
import { Visitor } from "./harness/browser.ts";
import { expect, test } from "./harness/test.ts";

const PAGES = {
  Inbox: ["/inbox", "i"],
  Tasks: ["/tasks", "t"],
  Work: ["/work", "w"],
  Projects: ["/projects", "o"],
  Teams: ["/teams", "e"],
  Schedules: ["/schedules", "d"],
  Running: ["/running", "r"],
  Memory: ["/memory", "m"],
  Learning: ["/learning", "l"],
  Connectors: ["/connectors", "c"],
  Skills: ["/skills", "k"],
  Agents: ["/agents", "a"],
  Permissions: ["/permissions", "p"],
  Usage: ["/usage", "u"],
  Health: ["/health", "h"],
  Settings: ["/settings", "s"],
} as const;

/** Everything is there; a page that is told news keeps a connection open, so the network is never idle. */
const loaded = (page: Page) =>
  expect.poll(() => page.getByText("Loading", { exact: true }).count(), { timeout: 30_000 }).toBe(0);

test.for(Object.entries(PAGES))("%s", async ([title, [path, key]], { browser, engine, page }) => {
  await page.goto("/console/tasks");
  await page.getByRole("heading", { level: 1, name: "Tasks" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press(key);
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console${path}`);
  await loaded(page);
  expect(await violations(page)).toEqual([]);
  const phone = await Visitor.enter(browser, engine, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
  });
  await phone.page.goto(`/console${path}`);
  await phone.page.getByRole("heading", { level: 1, name: title }).waitFor();
  await loaded(phone.page);
  const width = await phone.page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);
  await phone.leave();
  expect(phone.problems).toEqual([]);
});

test("every key is listed where one asks for it", async ({ page }) => {
  await page.goto("/console/tasks");
  await page.getByRole("heading", { level: 1, name: "Tasks" }).waitFor();
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  for (const [title] of Object.entries(PAGES)) await help.getByText(title, { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  expect(new URL(page.url()).pathname).toBe("/console/tasks");
  await page.getByRole("button", { name: "Shortcuts" }).click();
  await help.getByRole("button", { name: "Close" }).click();
  await help.waitFor({ state: "detached" });
});

test("the chat, on a phone: the menu slides in and leads on", async ({ browser, engine }) => {
  const { page, problems, leave } = await phoneOf(browser, engine);
  await page.goto("/console");
  await page.getByLabel("Message", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Usage" }).click();
  await page.getByRole("heading", { level: 1, name: "Usage" }).waitFor();
  await page.getByRole("button", { name: "New chat" }).click();
  await page.getByLabel("Message", { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await leave();
  expect(problems).toEqual([]);
});

async function phoneOf(...[browser, engine]: Parameters<typeof Visitor.enter>) {
  const visitor = await Visitor.enter(browser, engine, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
  });
  return { page: visitor.page, problems: visitor.problems, leave: () => visitor.leave() };
}
