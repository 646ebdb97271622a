// The AI SDK as a client of the doors, through its provider for compatible endpoints.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { dot, key, talk, tasks, url } from "./engine.mjs";

const provider = createOpenAICompatible({
  name: "aster",
  baseURL: url,
  apiKey: key,
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const model = provider("aster");

test("a conversation is one task", async () => {
  const before = (await tasks()).length;
  const messages = [{ role: "user", content: `hello ${Date.now()}` }];
  const one = await generateText({ model, system: "Be nice.", messages });
  assert.equal(one.text, talk);
  messages.push(...one.response.messages, { role: "user", content: "more" });
  const two = streamText({ model, system: "Be nice.", messages });
  let said = "";
  for await (const part of two.textStream) said += part;
  assert.equal(said, talk);
  assert.equal(await two.finishReason, "stop");
  assert.ok((await two.usage).totalTokens > 0);
  assert.equal((await tasks()).length, before + 1);
});

test("tools, several steps, streamed and not", async () => {
  for (const run of [generateText, streamText]) {
    const ran = [];
    const found = await run({
      model,
      prompt: `Use magic on 3, then magic on 4. ${run.name} ${Date.now()}`,
      stopWhen: stepCountIs(4),
      tools: {
        magic: tool({
          description: "Does magic.",
          inputSchema: z.object({ number: z.number().int() }),
          execute: async ({ number }) => {
            ran.push(number);
            return `magic ${number}`;
          },
        }),
      },
    });
    assert.match(await found.text, /magic 4/);
    assert.deepEqual(ran, [3, 4]);
    assert.equal((await found.steps).length, 2);
  }
});

test("objects and pictures", async () => {
  const { object } = await generateObject({
    model,
    schema: z.object({ setup: z.string(), stars: z.number().int() }),
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "a joke with 5 stars" },
          { type: "image", image: Buffer.from(dot, "base64") },
        ],
      },
    ],
  });
  assert.equal(object.stars, 5);
});

test("errors carry the sentence", async () => {
  await assert.rejects(
    generateText({ model: provider("nobody"), prompt: "hi", maxRetries: 0 }),
    (error) => APICallError.isInstance(error) && error.statusCode === 404 && /no model/.test(error.message),
  );
});
