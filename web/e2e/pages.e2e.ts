// Every page of the console: it opens by its address and by the keyboard, anybody can use it, and it fits a phone.

import { violations } from "./harness/axe.ts";
import { Visitor } from "./harness/browser.ts";
import { expect, test } from "./harness/test.ts";

const PAGES = {
  Inbox: ["/inbox", "i"],
  Tasks: ["/tasks", "t"],
  Memory: ["/memory", "m"],
  Connectors: ["/connectors", "c"],
  Skills: ["/skills", "k"],
  Agents: ["/agents", "a"],
  Permissions: ["/permissions", "p"],
  Usage: ["/usage", "u"],
  Health: ["/health", "h"],
  Settings: ["/settings", "s"],
} as const;

test.for(Object.entries(PAGES))("%s", async ([title, [path, key]], { browser, engine, page }) => {
  await page.goto("/console/tasks");
  await page.getByRole("heading", { level: 1, name: "Tasks" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press(key);
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console${path}`);
  await page.waitForLoadState("networkidle");
  expect(await violations(page)).toEqual([]);
  const phone = await Visitor.enter(browser, engine, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
  });
  await phone.page.goto(`/console${path}`);
  await phone.page.getByRole("heading", { level: 1, name: title }).waitFor();
  await phone.page.waitForLoadState("networkidle");
  const width = await phone.page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);
  await phone.leave();
  expect(phone.problems).toEqual([]);
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
