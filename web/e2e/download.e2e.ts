// A model of the engine's own that is still on its way: how far it is, wherever somebody waits for it.

import { once } from "node:events";
import { createServer } from "node:net";
import { violations } from "./harness/axe.ts";
import { test as base, expect } from "./harness/test.ts";

/** The registry the model comes from takes every request and never answers. */
const test = base.extend({
  settings: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest wants a pattern
    async ({}, use) => {
      const silent = createServer((socket) => socket.on("error", () => undefined).resume());
      silent.listen(0, "127.0.0.1");
      await once(silent, "listening");
      const address = silent.address();
      const port = typeof address === "object" && address ? address.port : 0;
      await use({
        LLM_PROVIDER: "local",
        PIP_INDEX_URL: `http://127.0.0.1:${port}/simple`,
        PIP_CONFIG_FILE: "/dev/null",
      });
      silent.close();
    },
    { scope: "file" },
  ],
});

test("the download is told in the settings, by the test of the connection, and under health", async ({
  page,
}) => {
  await page.goto("/console/settings");
  const bar = page.getByRole("meter", { name: "Download of the model" });
  await bar.waitFor({ state: "attached" });
  await page.getByText(/^0 B of 1\d{3}\.\d MB$/).waitFor();
  await page.getByRole("button", { name: "Test the connection" }).click();
  await page.getByRole("meter", { name: "How far it is" }).waitFor({ state: "attached" });
  expect(await violations(page)).toEqual([]);
  await page.goto("/console/health");
  await bar.waitFor({ state: "attached" });
  await page
    .getByText(/Downloading/)
    .first()
    .waitFor();
  expect(await violations(page)).toEqual([]);
});
