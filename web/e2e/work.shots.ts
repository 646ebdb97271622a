// The pictures of work that outlives a turn: a board, schedules, a team whose plan waits.

import type { Browser, Page } from "playwright-core";
import type { EngineProcess } from "./harness/engine.ts";
import { call, type Model, reply, rounds, text } from "./harness/model.ts";
import { PHONE, shot } from "./harness/pictures.ts";
import { test } from "./harness/test.ts";

const PLAN = `1. Read the tests of the payment page
2. Add a table \`refunds\` with a migration up and down
3. Let the webhook write to it, once per event
4. Run the tests, then tell the lead`;

const ITEMS = [
  { name: "schema", subject: "Write the schema for orders", role: "backend", priority: 10 },
  { name: "api", subject: "Build the orders API", blocked_by: ["schema"], role: "backend", priority: 5 },
  { name: "page", subject: "Draw the order page, for phones too", blocked_by: ["api"], role: "frontend" },
  { name: "mail", subject: "Send a mail when an order ships", blocked_by: ["api"] },
  { name: "notes", subject: "Write the release notes", blocked_by: ["page", "mail"] },
  { name: "ship", subject: "Ship version 2.4", blocked_by: ["notes"], priority: 20 },
  { name: "import", subject: "Find out why the nightly import is slow" },
  { name: "tests", subject: "Make the tests run in parallel" },
  { name: "prices", subject: "Collect the prices of last year", role: "research" },
];

interface Made {
  items: { item_id: string; subject: string }[];
}

async function board({ client }: EngineProcess): Promise<void> {
  const { items } = await client.post<Made>("/work/items", { items: ITEMS });
  const id = (at: number) => items[at]?.item_id ?? "";
  await client.post(`/work/items/${id(0)}/claim`, { owner: "crew/ada" });
  await client.post(`/work/items/${id(0)}/complete`, { owner: "crew/ada", result: "Three tables." });
  await client.post(`/work/items/${id(1)}/claim`, { owner: "crew/ada" });
  await client.post(`/work/items/${id(6)}/claim`);
}

async function times({ client }: EngineProcess): Promise<void> {
  for (const schedule of [
    { name: "Remind me", prompt: "The offer ends today.", at: "2099-03-01T09:00:00Z" },
    { name: "Nightly look", prompt: "Is the import faster now?", every_seconds: 86_400 },
    {
      name: "Morning summary",
      prompt: "Sum up what is new and what I should read first.",
      ...{ cron: "0 9 * * mon-fri", time_zone: "Europe/Berlin" },
    },
  ])
    await client.post("/schedules", schedule);
}

async function team({ client }: EngineProcess, model: Model): Promise<string> {
  await model.script([
    ...rounds("Build refunds", [call("submit_plan", { plan: PLAN })], [text("Done.")]),
    { match: "pages", reply: reply([text("The order page stands, in light and in dark.")]) },
    { match: ".", reply: reply([text("Good. Wait for the plan of ada.")]) },
  ]);
  const made = await client.post<{ team_id: string }>("/teams", {
    name: "release-crew",
    members: [
      { name: "ada", role: "backend", prompt: "Build refunds.", require_plan: true },
      { name: "grace", role: "frontend", prompt: "Draw the pages." },
    ],
  });
  return made.team_id;
}

const seen = (words: string) => (page: Page) => page.getByText(words, { exact: false }).first().waitFor();

test("the pictures of work", async ({ browser, engine, model }) => {
  await board(engine);
  await times(engine);
  const at: [Browser, EngineProcess] = [browser, engine];
  await shot(at, "work", "/work", seen("Ship version"));
  await shot(at, "work-dark", "/work/graph", seen("after Write the schema"), { colorScheme: "dark" });
  await shot(at, "work-phone", "/work", seen("Ship version"), PHONE);
  await shot(at, "schedules", "/schedules", seen("Morning summary"));
  const id = await team(engine, model);
  await shot(at, "team", `/teams/${id}`, async (page) => {
    await seen("asks you to approve")(page);
    await seen("The order page stands")(page);
  });
}, 180_000);
