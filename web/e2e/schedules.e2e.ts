// Schedules in the browser: made with their times told beforehand, run, paused, changed, ended, and every time accounted
// for.

import { violations } from "./harness/axe.ts";
import { reply, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

test("a schedule is made with its times told beforehand; what makes no sense is said there", async ({
  page,
}) => {
  await page.goto("/console/schedules");
  await page.getByText("Nothing is scheduled").waitFor();
  await page.getByRole("button", { name: "New schedule" }).click();
  const dialog = page.getByRole("dialog", { name: "New schedule" });
  await dialog.getByLabel("Name").fill("Morning summary");
  await dialog.getByLabel("What is said").fill("Sum up what is new.");
  await dialog.getByLabel("Cron expression").fill("0 0 31 2 *");
  await dialog.getByText("never due", { exact: false }).waitFor();
  await dialog.getByLabel("Cron expression").fill("0 9 * * *");
  await dialog.getByLabel("Time zone").fill("UTC");
  const coming = dialog.getByRole("list", { name: "Next times" }).getByRole("listitem");
  await coming.nth(4).waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("heading", { level: 1, name: "Morning summary" }).waitFor();
  await page.getByText("0 9 * * * (UTC)").waitFor();
  await page.getByText("It has not been due yet").waitFor();
});

test("it is run, paused, changed and ended; what became of its times is told", async ({
  engine,
  model,
  page,
}) => {
  await model.script([{ match: "Scheduled", reply: reply([text("Looked, all is well.")]) }]);
  await engine.client.post("/schedules", { prompt: "Look at it.", name: "Look", every_seconds: 86_400 });
  await page.goto("/console/schedules");
  const row = page
    .getByRole("list", { name: "Schedules" })
    .getByRole("listitem")
    .filter({ hasText: "every day" });
  await row.getByRole("button", { name: "Run now" }).click();
  await row.getByText("ran 1 time").waitFor();
  await row.getByRole("link", { name: "Look" }).click();
  const times = page.getByRole("table", { name: "Times that were due" });
  await times.getByText("by hand").waitFor();
  await times.getByText("done", { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);

  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("It is paused", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("list", { name: "Next times" }).waitFor();

  await page.getByRole("button", { name: "Change" }).click();
  const dialog = page.getByRole("dialog", { name: "Change the schedule" });
  await dialog.getByLabel("How often").fill("2");
  await dialog.getByLabel("Unit").selectOption({ label: "hours" });
  await dialog.getByLabel("What is said").fill("Look closely.");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("every 2 hours").waitFor();
  await page.getByText("Look closely.").waitFor();

  await times.getByRole("link", { name: "Open" }).click();
  await page.getByText("Looked, all is well.").waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "End Look" }).click();
  await page.getByRole("button", { name: "End it" }).click();
  await page.getByText("It is not due any more.").waitFor();
  await page.getByRole("link", { name: "All schedules" }).click();
  await page.getByRole("button", { name: "Over" }).click();
  await page.getByRole("list", { name: "Schedules" }).getByText("cancelled").waitFor();
});
