// The pictures of learning and of a turn that is run again; made only when they are asked for (make screenshots).

import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { EngineProcess } from "./harness/engine.ts";
import { call, type Model, rounds, text } from "./harness/model.ts";
import { PHONE, shot } from "./harness/pictures.ts";
import { ANSWERS, finds, run, taught } from "./harness/teaching.ts";
import { test as base } from "./harness/test.ts";

const test = base.extend({
  settings: [
    {
      ...{ MEMORY_ENABLED: "true", VERIFIER: "off", LLM_ALLOWED_MODELS: "small-model", LC_BUDGET_USD: "2" },
      ...{ SELF_PLAY: "true", SANDBOX: "auto" },
    },
    { scope: "file" },
  ],
});

const FIRST = {
  traits: [{ category: "root", key: "location", value: "Porto", quote: "I live in Porto", message: 1 }],
  people: [
    {
      ...{ source: "Ada", relation: "works at", target: "Northwind" },
      ...{ quote: "my sister Ada works at Northwind", message: 1 },
    },
  ],
  rules: [{ content: "Always answer in metric units.", quote: "always answer in metric units", message: 2 }],
  facts: [
    {
      ...{
        subject: "report",
        predicate: "copy",
        content: "Send a copy of every report to audit@example.com",
      },
      ...{ quote: "send a copy of every report to audit@example.com", message: 3 },
    },
  ],
};
const SECOND = {
  traits: [{ category: "root", key: "location", value: "Lisbon", quote: "I now live in Lisbon", message: 1 }],
};

async function prepare(engine: EngineProcess, model: Model): Promise<void> {
  await model.script([finds(FIRST), ...ANSWERS]);
  await engine.say("holiday-plans", "I live in Porto, and my sister Ada works at Northwind.");
  await engine.say("recipe", "Please always answer in metric units.");
  await engine.say("quarterly-report", "Read the page and sum it up.");
  await run(engine, "batch");
  await model.script([finds(SECOND), ...ANSWERS]);
  await engine.say("moving", "News: I now live in Lisbon.");
  await run(engine, "batch");
  await taught(engine, model);
  await run(engine, "batch");
  await run(engine, "trials");
  for (let at = 5; at < 10; at += 1) {
    const turn = await engine.client.execute({
      ...{ task_id: `pack-${at}`, message: `Please install packages with pip for project ${at}.` },
    });
    for await (const _ of turn);
    await engine.client.post("/feedback", {
      ...{ task_id: `pack-${at}`, turn_id: turn.turnId, rating: at === 9 ? -1 : 1 },
    });
  }
}

const LOOK = (answer: string) =>
  rounds("Which notes", [call("glob", { pattern: "*.md" })], [text(`Here is what there is.\n\n${answer}`)]);

/** A turn, and what came of running it again with a model that says something else. */
async function again(engine: EngineProcess, model: Model): Promise<string> {
  await model.script(LOOK("There are no notes in the workspace."));
  await engine.say("notes", "Which notes are there?");
  await model.script(LOOK("I found no Markdown files. Should I look in the folders below?"));
  const report = await engine.client.post<{ replay_task_id: string }>("/tasks/notes/replay", {
    model: "small-model",
  });
  return report.replay_task_id;
}

const seen = (words: string | RegExp) => (page: Page) => page.getByText(words).first().waitFor();
const LOOKS: [string, BrowserContextOptions][] = [
  ["", {}],
  ["-dark", { colorScheme: "dark" }],
  ["-phone", PHONE],
];

test("the pictures of learning", async ({ browser, engine, model }) => {
  await prepare(engine, model);
  const replay = await again(engine, model);
  const { trials } = await engine.client.get<{ trials: { trial_id: string }[] }>("/learning/trials");
  for (const cluster of ["algo", "sql"])
    await engine.client.post("/learning/self-play", { cluster, wait: true });
  const at: [Browser, EngineProcess] = [browser, engine];
  for (const [name, options] of LOOKS)
    await shot(at, `learning-changes${name}`, "/learning/changes", seen("where you said it"), options);
  const trial = `/learning/trials/${trials[0]?.trial_id}`;
  await shot(at, "learning", "/learning", seen("turns that had something learned"));
  await shot(at, "learning-about-me", "/learning/learned", seen("Utility"));
  await shot(at, "learning-trial", trial, seen("held against the original"));
  await shot(at, "learning-self-play", "/learning/self-play", seen("Challenges"));
  await shot(at, "run-again", `/tasks/notes/again?replay=${replay}`, seen("What came of it"));
}, 180_000);
