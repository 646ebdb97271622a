// Servers connected and used from a browser: one for anybody, one behind a key, one behind a login, one that is not there.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { violations } from "./harness/axe.ts";
import { begin, finished } from "./harness/chatting.ts";
import { call, rounds, text } from "./harness/model.ts";
import { Child } from "./harness/process.ts";
import { test as base, expect } from "./harness/test.ts";

const ROOT = join(import.meta.dirname, "../..");
const KEY = "Bearer open sesame";

interface Standing {
  open: string;
  keyed: string;
  login: string;
}

const test = base.extend<{ servers: Child; settings: Record<string, string> }>({
  servers: [
    async ({ folder }, use) => {
      const child = new Child(["-m", "tests.asset_directory.standing"], folder, { PYTHONPATH: ROOT });
      await use(child);
      await child.end("SIGTERM");
    },
    { scope: "file" },
  ],
  settings: [
    async ({ folder, servers: child }, use) => {
      const line = await child.until(
        () => /\{"open".*\}/.exec(child.output)?.[0],
        "The servers did not start.",
      );
      const at = JSON.parse(line) as Standing;
      const servers = {
        notes: { display_name: "Notes", url: at.open, policy: { echo: "allow", fail: "deny" } },
        tracker: { display_name: "Tracker", url: at.keyed, auth_method: "static" },
        calendar: { display_name: "Calendar", url: at.login, auth_method: "oauth", policy: { "*": "allow" } },
        gone: { display_name: "Gone", url: "http://127.0.0.1:9/mcp" },
      };
      const place = join(folder, "catalog", "mcp");
      await mkdir(place, { recursive: true });
      for (const [name, server] of Object.entries(servers))
        await writeFile(join(place, `${name}.json`), JSON.stringify(server));
      await use({ CATALOG_DIR: join(folder, "catalog"), MCP_USER_SERVERS: "true" });
    },
    { scope: "file" },
  ],
});

const entry = (page: Page, list: string, name: string) =>
  page.getByRole("list", { name: list }).getByRole("listitem").filter({ hasText: name }).first();

test("a server is connected, shows what it brings, is used, and is disconnected", async ({
  engine,
  model,
  page,
}) => {
  await page.goto("/console/connectors");
  await page.getByText("Nothing is connected").waitFor();
  await page.getByRole("button", { name: "Connect Notes" }).click();
  const notes = entry(page, "Connections", "Notes");
  await notes.getByText("connected", { exact: true }).waitFor();
  await notes.getByText("9 actions").click();
  const echo = notes.locator("summary", { hasText: "notes.echo" });
  await echo.getByText("allowed").waitFor();
  await notes.locator("summary", { hasText: "notes.fail" }).getByText("denied").waitFor();
  const resources = notes.locator("summary", { hasText: "notes.read_resource" });
  await resources.getByText("resources").waitFor();
  await resources.click();
  await notes.getByRole("list", { name: "Resources" }).getByText("note://one").waitFor();
  await notes.locator("summary", { hasText: "notes.get_prompt" }).click();
  await notes.getByRole("list", { name: "Prompts" }).getByText("greet(name)").waitFor();
  await echo.click();
  await notes.getByText('"text"').first().waitFor();
  expect(await violations(page)).toEqual([]);

  await model.script(rounds("echo", [call("notes.echo", { text: "hello" })], [text("It said hello.")]));
  await engine.say("echoing", "Please echo");
  const { events } = await engine.client.events("echoing");
  const results = events.filter((event) => event.type === "tool_result");
  expect(results).toMatchObject([{ tool: "notes.echo", output: "hello" }]);

  await page.getByRole("button", { name: "Disconnect Notes" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
  await entry(page, "Available servers", "Notes").waitFor();
});

test("a key that is wrong is refused with the reason, the right one connects", async ({ page }) => {
  await page.goto("/console/connectors");
  await page.getByRole("button", { name: "Connect Tracker" }).click();
  const dialog = page.getByRole("dialog", { name: "Connect Tracker" });
  const given = dialog.getByLabel("Authorization");
  expect(await given.getAttribute("type")).toBe("password");
  await given.fill("Bearer wrong");
  await dialog.getByRole("button", { name: "Connect" }).click();
  await dialog.getByRole("alert").waitFor();
  await given.fill(KEY);
  await dialog.getByRole("button", { name: "Connect" }).click();
  const tracker = entry(page, "Connections", "Tracker");
  await tracker.getByText("connected", { exact: true }).waitFor();
  await tracker.getByRole("button", { name: "Replace the key" }).waitFor();
  expect(await page.content()).not.toContain("open sesame");
});

test("a login opens the server's page, and this page notices when it is done", async ({ page }) => {
  await page.goto("/console/connectors");
  await page.getByRole("button", { name: "Connect Calendar" }).click();
  const link = page.getByRole("dialog").getByRole("link", { name: /Log in at/ });
  await link.waitFor();
  expect(await link.getAttribute("rel")).toContain("noopener");
  await page.getByRole("button", { name: "Later" }).click();
  const calendar = entry(page, "Connections", "Calendar");
  await calendar.getByText("waits for your login").waitFor();

  for (const word of ["Log in", "Log in again"]) {
    await calendar.getByRole("button", { name: `${word}: Calendar` }).click();
    const [there] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await there.getByText("The server calendar is connected").waitFor();
    await there.close();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await calendar.getByText("connected", { exact: true }).waitFor();
  }
});

test("a login that ended is asked for in the chat, and the call goes on when it is done", async ({
  model,
  page,
  servers,
}) => {
  await page.goto("/console/connectors");
  await entry(page, "Connections", "Calendar").getByText("connected", { exact: true }).waitFor();
  await model.script(
    rounds("calendar", [call("calendar.echo", { text: "at noon" })], [text("You are free at noon.")]),
  );
  servers.tell("SIGUSR1");
  await servers.until(() => servers.output.includes("withdrawn"), "The tokens were not withdrawn.");
  await begin(page, "look into the calendar");
  const ask = page.getByLabel("The agent asks you").last();
  const link = ask.getByRole("link", { name: /Log in at/ });
  await link.waitFor();
  await ask.getByRole("button", { name: "Not now" }).waitFor();
  expect(await violations(page)).toEqual([]);
  const [there] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
  await there.getByText("The server calendar is connected").waitFor();
  await there.close();
  await page.getByText("You are free at noon.").waitFor();
  await finished(page);
});

test("a server that is not there says so, and one of one's own is held to what may be reached", async ({
  page,
}) => {
  await page.goto("/console/connectors");
  await page.getByRole("button", { name: "Connect Gone" }).click();
  await entry(page, "Available servers", "Gone").getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Add a server" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a server" });
  await dialog.getByLabel("Name").fill("mine");
  await dialog.getByLabel("Address").fill("http://127.0.0.1:9/mcp");
  await dialog.getByRole("button", { name: "Connect" }).click();
  await dialog.getByRole("alert").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});
