// What learning is made of in a test: a worker model that finds what the script says, turns that somebody corrects, and a
// lesson that recorded turns prove right.

import type { wire } from "@aster/client";
import type { EngineProcess } from "./engine.ts";
import { hold, type Model, type Rule, reply, text } from "./model.ts";

const LESSON = "use uv instead of pip to install packages";

export const ANSWERS: Rule[] = [{ match: ".", reply: reply([text("All right.")]) }];

/** What is found in the conversations that are read next, once `held` is released. */
export const finds = (found: object, held: string | null = null): Rule => ({
  match: '"conversations"',
  reply: reply([...(held ? [hold(held)] : []), text(JSON.stringify(found))]),
});

export const run = (engine: EngineProcess, ...works: string[]): Promise<wire.RunsAnswer> =>
  engine.client.post("/learning/run", { works });

async function corrected(engine: EngineProcess, task: string, message: string): Promise<void> {
  const turn = await engine.client.execute({ task_id: task, message });
  for await (const _ of turn);
  const body = { task_id: task, turn_id: turn.turnId, rating: -1, correction: "Run uv add now." };
  await engine.client.post("/feedback", body);
}

/** Conversations with a lesson in them, and turns on which it can be tried. */
export async function taught(engine: EngineProcess, model: Model): Promise<void> {
  const lesson = {
    ...{ trigger: "install packages", mistake: "pip was used" },
    ...{ correct_pattern: `U${LESSON.slice(1)}`, quote: LESSON },
  };
  await model.script([
    finds({ lessons: Array.from({ length: 9 }, (_, at) => ({ ...lesson, message: at + 1 })) }),
    { match: "Use uv instead(.|\\n)*install", reply: reply([text("Run uv add now.")]) },
    { match: "How do I install", reply: reply([text("Run pip install now.")]) },
    ...ANSWERS,
  ]);
  for (let at = 0; at < 4; at += 1)
    await corrected(engine, `pack-${at}`, `How do I install the packages of project ${at}?`);
  await engine.say("told", `From now on ${LESSON} here please.`);
}
