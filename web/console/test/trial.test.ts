import type { AsterEvent } from "@aster/client";
import { expect, test } from "vitest";
import { after, BEGUN, type Trial } from "../src/pages/settings/trial.ts";

const told = (...events: object[]) =>
  events.reduce<Trial>((trial, event) => after(trial, event as AsterEvent), BEGUN);

test("an answer with its time and cost", () => {
  const trial = told(
    { type: "model_progress", stage: "downloading", text: "Fetching", done_bytes: 1, total_bytes: 4 },
    { type: "text_delta", text: "I am " },
    { type: "text_delta", text: "ready." },
    { type: "usage", model: "m", cost_usd: 0.001, first_token_ms: 7 },
    { type: "usage", model: "m", cost_usd: 0.002, first_token_ms: 9 },
    { type: "thread_lifecycle", phase: "completed" },
  );
  expect(trial).toMatchObject({
    state: "answered",
    text: "I am ready.",
    waits: null,
    model: "m",
    firstMs: 7,
  });
  expect(trial.cost).toBeCloseTo(0.003);
});

test("while a model is made ready, it says so and how far it is", () => {
  const trial = told({
    type: "model_progress",
    stage: "downloading",
    text: "Fetching",
    done_bytes: 1,
    total_bytes: 4,
  });
  expect(trial).toMatchObject({ state: "asking", waits: "Fetching", share: 0.25 });
});

test("a failure tells the engine's own sentence", () => {
  const trial = told(
    { type: "error", error: "LLM_PROVIDER_ERROR", message: "Check LLM_API_KEY." },
    { type: "thread_lifecycle", phase: "errored" },
  );
  expect(trial).toMatchObject({ state: "failed", problem: "Check LLM_API_KEY.", cost: null });
});
