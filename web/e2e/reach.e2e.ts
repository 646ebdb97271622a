// What agents can do and may do, as somebody keeps it in a browser: skills, agents, permissions.

import type { Page } from "playwright-core";
import { violations } from "./harness/axe.ts";
import { call, rounds, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

const SKILL = `---
name: release-notes
description: Write release notes. Use for a changelog.
capabilities: [changelog]
---
# How

Write **one line** for each change.
`;

const item = (page: Page, list: string, name: string) =>
  page.getByRole("list", { name: list }).getByRole("listitem").filter({ hasText: name }).first();

test("a skill is written from a SKILL.md with a preview, changed and deleted", async ({ engine, page }) => {
  await page.goto("/console/skills");
  await page.getByRole("link", { name: "summarizer" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "New skill" }).click();
  await page.getByLabel("Instructions").fill(SKILL);
  expect(await page.getByLabel("Name").inputValue()).toBe("release-notes");
  await page.getByLabel("Preview").getByRole("heading", { name: "How" }).waitFor();
  await page.getByLabel("Another file").fill("scripts/changes.sh");
  await page.keyboard.press("Enter");
  await page.getByLabel("scripts/changes.sh", { exact: true }).fill("git log --oneline");
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "release-notes" }).waitFor();
  await page.getByText("git log").waitFor();

  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Category").fill("writing");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("writing", { exact: true }).waitFor();
  const kept = await engine.client.get<{ category: string; scripts: object }>("/skills/release-notes");
  expect(kept).toMatchObject({ category: "writing", scripts: { "scripts/changes.sh": "git log --oneline" } });

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("link", { name: "summarizer" }).waitFor();
  expect(await page.getByRole("link", { name: "release-notes" }).count()).toBe(0);
});

test("calls that the agent proposed are read and approved", async ({ engine, model, page }) => {
  const steps = [{ tool: "glob", input: { pattern: "$what" }, save_as: "found" }];
  const proposed = { name: "look_for", description: "Looks for files.", parameters: ["what"], steps };
  await model.script(rounds("propose", [call("compose_skill", proposed)], [text("Proposed.")]));
  await engine.say("proposing", "propose it");
  await page.goto("/console/skills");
  await page.getByRole("button", { name: "Your agent's" }).click();
  await item(page, "Skills", "look_for").getByText("waits for your approval").waitFor();
  await page.getByRole("link", { name: "look_for" }).click();
  await page.getByText("one after the other").waitFor();
  await page.getByText('"$what"').waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("approved", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  expect(await violations(page)).toEqual([]);
});

test("an agent is copied, changed, tried in the chat and deleted", async ({ model, page }) => {
  await model.script([
    { system: "in verse", match: "hello", reply: { type: "reply", parts: [text("Hello, in verse.")] } },
    { match: "hello", reply: { type: "reply", parts: [text("Plain hello.")] } },
  ]);
  await page.goto("/console/agents");
  await page.getByRole("button", { name: "Copy writer" }).click();
  const dialog = page.getByRole("dialog", { name: "New agent" });
  expect(await dialog.getByLabel("Name").inputValue()).toBe("my-writer");
  await dialog.getByLabel("Name").fill("poet");
  await dialog.getByLabel("Prompt").fill("You answer in verse.");
  await dialog.getByLabel("Tools", { exact: true }).selectOption("some");
  await dialog
    .getByRole("textbox", { name: "It may call" })
    .or(dialog.getByRole("combobox", { name: "It may call" }))
    .fill("grep,");
  await dialog.getByRole("list", { name: "It may call" }).getByText("grep", { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.waitFor({ state: "detached" });

  const poet = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "poet" }) });
  await poet.getByRole("link", { name: "Try in chat" }).click();
  await page.getByText("with poet").waitFor();
  await page.getByLabel("Message", { exact: true }).fill("hello");
  await page.keyboard.press("Enter");
  await page.getByText("Hello, in verse.").waitFor();

  await page.goto("/console/agents");
  await page.getByRole("button", { name: "Delete poet" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await poet.waitFor({ state: "detached" });
});

test("a call is tried, granted, found in force and revoked; a rule is held against what there was", async ({
  engine,
  model,
  page,
}) => {
  const push = "git push --force origin main";
  await model.script(rounds("push it", [call("bash", { command: push })], [text("Left as it was.")]));
  const turn = await engine.client.execute(
    { task_id: "pushing", message: "push it" },
    { onRequest: async ({ request_id }) => ({ request_id, answer: "no" }) },
  );
  for await (const _ of turn);

  await page.goto("/console/permissions");
  await page.getByText("No grants yet").waitFor();
  await page.getByRole("link", { name: "Try a call" }).click();
  await page.getByLabel("Input").fill("{");
  await page.getByText("This is not JSON yet").waitFor();
  await page.getByLabel("Input").fill(JSON.stringify({ command: push }));
  await page.getByRole("button", { name: "What would happen?" }).click();
  await page.getByText("asks", { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);

  await page.getByRole("link", { name: "Try a rule" }).click();
  await page.getByLabel("Calls that look like").fill(push);
  await page.getByRole("button", { name: "Look at past calls" }).click();
  await page.getByText("It would allow 1 call that a person had denied.").waitFor();
  await page.getByRole("link", { name: "pushing" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Keep it as a grant" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a grant" });
  await dialog.getByLabel("For how long").selectOption("86400");
  await dialog.getByRole("button", { name: "Add the grant" }).click();
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("link", { name: "Try a call" }).click();
  await page.getByLabel("Input").fill(JSON.stringify({ command: push }));
  await page.getByRole("button", { name: "What would happen?" }).click();
  await page.getByText("a grant of yours").waitFor();

  await page.getByRole("link", { name: "In force" }).click();
  const grant = item(page, "Grants", push);
  await grant.getByText("in 24 hr.").or(grant.getByText("tomorrow")).waitFor();
  await grant.getByRole("button", { name: /Revoke/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No grants yet").waitFor();
});
