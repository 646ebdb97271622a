// Teams in the browser: made, read, written to; plans held against each other and decided; members and teams stopped.

import { violations } from "./harness/axe.ts";
import { begin } from "./harness/chatting.ts";
import { call, reply, rounds, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

test("a team is made, works, is written to, and stopped", async ({ model, page }) => {
  await model.script([
    { match: "Friday", reply: reply([text("The schema is in the way.")]) },
    { match: "server side", reply: reply([text("The server side stands.")]) },
    { match: "pages", reply: reply([text("The pages stand.")]) },
    { match: ".", reply: reply([text("Understood.")]) },
  ]);
  await page.goto("/console/teams");
  await page.getByText("There is no team yet").waitFor();
  await page.getByRole("button", { name: "New team" }).click();
  const dialog = page.getByRole("dialog", { name: "New team" });
  await dialog.getByLabel("What it is called").fill("crew");
  const first = dialog.getByRole("group", { name: "Member 1" });
  await first.getByLabel("Name").fill("ada lovelace");
  await first.getByText("Letters, digits").waitFor();
  await first.getByLabel("Name").fill("ada");
  await first.getByLabel("Role").fill("backend");
  await first.getByLabel("What it is told first").fill("You build the server side.");
  await dialog.getByRole("button", { name: "One more" }).click();
  const second = dialog.getByRole("group", { name: "Member 2" });
  await second.getByLabel("Name").fill("grace");
  await second.getByLabel("What it is told first").fill("You build the pages.");
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Begin" }).click();
  await page.getByRole("heading", { level: 1, name: "crew" }).waitFor();
  const members = page.getByRole("list", { name: "Members" });
  await expect.poll(() => members.getByText("idle", { exact: true }).count(), { timeout: 60_000 }).toBe(2);
  const mail = page.getByRole("list", { name: "Mail" });
  await mail.getByText("The server side stands.").waitFor();

  await page.getByLabel("To", { exact: true }).selectOption({ label: "ada" });
  await page.getByLabel("Say something").fill("Ship on Friday?");
  await page.getByRole("button", { name: "Send" }).click();
  await mail.getByText("Ship on Friday?").waitFor();
  await mail.getByText("The schema is in the way.").waitFor({ timeout: 60_000 });
  expect(await violations(page)).toEqual([]);

  await page.getByRole("button", { name: "Stop grace at once" }).click();
  await page.getByRole("button", { name: "Stop it" }).click();
  await members
    .getByRole("listitem")
    .filter({ hasText: "grace" })
    .getByText("stopped", { exact: true })
    .waitFor();
  await page.getByRole("button", { name: "Stop the team" }).click();
  await page.getByRole("button", { name: "Stop it" }).click();
  await page.getByRole("button", { name: "Stop the team" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "All teams" }).click();
  await page.getByRole("list", { name: "Teams" }).getByText("stopped").waitFor();
});

test("a plan is sent back, comes again, is held against the first and approved", async ({
  engine,
  model,
  page,
}) => {
  await model.script([
    ...rounds(
      "Tidy up",
      [call("submit_plan", { plan: "1. Look\n2. Delete everything\n3. Tell" })],
      [call("submit_plan", { plan: "1. Look\n2. Move it aside\n3. Tell" })],
      [text("Tidied up.")],
    ),
    { match: ".", reply: reply([text("Understood.")]) },
  ]);
  const team = await engine.client.post<{ team_id: string }>("/teams", {
    name: "tidy",
    members: [{ name: "linus", prompt: "Tidy up", require_plan: true }],
  });
  await page.goto(`/console/teams/${team.team_id}`);
  const plan = page.getByRole("article", { name: "Plan of linus" });
  await plan.getByText("Delete everything").waitFor({ timeout: 60_000 });
  expect(await violations(page)).toEqual([]);
  await plan.getByLabel("What it should know").fill("Delete nothing.");
  await plan.getByRole("button", { name: "Send it back" }).click();
  await plan.getByText("You had said: Delete nothing.").waitFor({ timeout: 60_000 });
  await plan.getByText("2. Move it aside").waitFor();
  await plan.getByText("2. Delete everything").waitFor();
  expect(await violations(page)).toEqual([]);
  await plan.getByRole("button", { name: "Approve" }).click();
  await plan.waitFor({ state: "detached" });
  await page.getByRole("list", { name: "Mail" }).getByText("Tidied up.").waitFor({ timeout: 60_000 });
});

test("a team that an agent proposes is read member by member before it begins", async ({ model, page }) => {
  const members = [
    { name: "eva", role: "backend", prompt: "Build the shed." },
    { name: "tom", role: "review", prompt: "Look at the shed." },
  ];
  await model.script([
    ...rounds("get help", [call("spawn_team", { name: "shed", members })], [text("They are at it.")]),
    { match: ".", reply: reply([text("Done.")]) },
  ]);
  await begin(page, "get help");
  const asked = page.getByRole("list", { name: "Who would be in it" });
  await asked.getByText("Build the shed.").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Allow" }).click();
  const told = page.getByRole("region", { name: "shed", exact: true });
  await told.getByRole("link").first().click();
  await page.getByRole("heading", { level: 1, name: "shed" }).waitFor();
  await page.getByRole("list", { name: "Members" }).getByText("tom").waitFor();
});
