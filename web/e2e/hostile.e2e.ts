// Messages made to harm: whoever wrote them, they are shown as what they are and nothing more.

import { begin, finished } from "./harness/chatting.ts";
import { call, reply, rounds, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

const HTML = [
  "<script>globalThis.broken = 1</script>",
  "<img src=x onerror='globalThis.broken = 2'>",
  "<iframe srcdoc='<script>parent.broken = 3</script>'></iframe>",
  "<svg onload='globalThis.broken = 4'></svg>",
  "<style>body { display: none }</style>",
  "[click](javascript:globalThis.broken=5) [data](data:text/html,<script>1</script>) [vb](vbscript:x)",
  "[spaced]( javascript:alert(1)) [entity](java&#115;cript:alert(1)) <javascript:alert(1)>",
  "![picture](https://tracker.invalid/pixel.png)",
  "[good](https://example.invalid/page)",
].join("\n\n");

test("HTML, scripts and evil links stay text, in what is said and in what is answered", async ({
  model,
  page,
}) => {
  await model.script([{ match: "harm", reply: reply([text(HTML)], { chunk: 7 }) }]);
  await begin(page, `harm ${HTML}`);
  await page.getByRole("link", { name: "good" }).waitFor();
  await finished(page);
  expect(await page.evaluate(() => (globalThis as { broken?: number }).broken)).toBeUndefined();
  const hrefs = await page
    .locator("main a[href]")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  expect(hrefs.filter((href) => !/^(https?:|mailto:|\/console)/.test(href ?? ""))).toEqual([]);
  expect(await page.locator("main :is(script, iframe, style, object, embed)").count()).toBe(0);
  expect(await page.locator("main img").count()).toBe(0);
  await page.getByText("<script>globalThis.broken = 1</script>").last().waitFor();
  const rel = await page.getByRole("link", { name: "good" }).getAttribute("rel");
  expect(rel).toContain("noopener");
});

test("a line of a megabyte, a table of 5,000 rows and endless nesting do not stop the page", async ({
  model,
  page,
}) => {
  const table = `|a|b|\n|-|-|\n${"|x|y|\n".repeat(5000)}`;
  const answers = {
    line: "x".repeat(1_000_000),
    table,
    nested: `${">".repeat(3000)} deep`,
    marks: "_a".repeat(50_000),
  };
  for (const [name, words] of Object.entries(answers)) {
    await model.script([
      { match: name, reply: reply([text(`${words}\n\nEnd of ${name}.`)], { chunk: 50_000 }) },
    ]);
    await begin(page, name);
    await page.getByText(`End of ${name}.`).waitFor();
    await finished(page);
    expect(await page.locator("main *").count()).toBeLessThan(3000);
    const answers = await page.evaluate(async () => {
      const begun = performance.now();
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      return performance.now() - begun;
    });
    expect(answers).toBeLessThan(1000);
  }
  await begin(page, `line ${"y".repeat(1_000_000)}`);
  await page
    .getByRole("button", { name: /Show more \(980/ })
    .first()
    .waitFor();
});

test("signs that turn text around cannot leave their line or hide in a command", async ({ model, page }) => {
  const turned = "safe \u202etxt.exe\u202c \u2066hidden\u2069";
  await model.script(
    rounds(
      "turn",
      [text(`Look: ${turned}`), call("bash", { command: `chmod -R 700 . # ${turned}` })],
      [text("Fine.")],
    ),
  );
  await begin(page, `turn ${turned}`);
  const ask = page.getByLabel("The agent asks you");
  await ask.locator("pre", { hasText: "⟨U+202E⟩txt.exe⟨U+202C⟩" }).waitFor();
  const bidi = await page
    .locator("main p", { hasText: "Look:" })
    .first()
    .evaluate((element) => getComputedStyle(element).unicodeBidi);
  expect(bidi).toBe("plaintext");
  await ask.getByRole("button", { name: "Refuse" }).click();
  await page.getByText("Fine.").waitFor();
});

test("what is on a board, in a schedule and in a team's mail stays text, however long", async ({
  engine,
  model,
  page,
}) => {
  await model.script([{ match: ".", reply: reply([text("Read.")]) }]);
  const subject = `<img src=x onerror='globalThis.broken = 6'> \u05d0\u05d1 ${"x".repeat(240)}`;
  const { items } = await engine.client.post<{ items: { item_id: string }[] }>("/work/items", {
    items: [{ subject, description: HTML }],
  });
  const schedule = await engine.client.post<{ schedule_id: string }>("/schedules", {
    ...{ prompt: HTML, name: "<b>evil</b>", cron: "@yearly" },
  });
  const team = await engine.client.post<{ team_id: string }>("/teams", {
    members: [{ name: "ada", prompt: HTML }],
  });
  for (const [path, words] of [
    [`/work?item=${items[0]?.item_id}`, "globalThis.broken = 1"],
    ["/work", "globalThis.broken = 6"],
    [`/schedules/${schedule.schedule_id}`, "globalThis.broken = 1"],
    [`/teams/${team.team_id}`, "globalThis.broken = 1"],
  ] as const) {
    await page.goto(`/console${path}`);
    await page.getByText(words, { exact: false }).first().waitFor();
    expect(await page.evaluate(() => (globalThis as { broken?: number }).broken)).toBeUndefined();
    expect(await page.locator("main :is(script, iframe, style, object, embed, img)").count()).toBe(0);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(1440);
  }
});
