// The official JavaScript SDK as a client of the doors.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { dot, key, talk, tasks, url } from "./engine.mjs";

const client = new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 });
const parameters = { type: "object", properties: { number: { type: "integer" } }, required: ["number"] };
const magic = { type: "function", function: { name: "magic", parameters } };

test("models", async () => {
  const found = [];
  for await (const model of client.models.list()) found.push(model.id);
  assert.ok(found.includes("aster"));
});

test("a conversation, whole and streamed, is one task", async () => {
  const before = (await tasks()).length;
  const messages = [{ role: "user", content: `hi ${Date.now()} from node` }];
  const whole = await client.chat.completions.create({ model: "aster", messages });
  assert.equal(whole.choices[0].message.content, talk);
  messages.push(whole.choices[0].message, { role: "user", content: "more" });
  let said = "";
  let usage = null;
  const stream = await client.chat.completions.create({
    model: "aster",
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of stream) {
    said += chunk.choices[0]?.delta?.content ?? "";
    usage = chunk.usage ?? usage;
  }
  assert.equal(said, talk);
  assert.ok(usage.total_tokens > 0);
  assert.equal((await tasks()).length, before + 1);
});

test("tools that the SDK runs", async () => {
  const ran = [];
  const runner = client.chat.completions.runTools({
    model: "aster",
    messages: [{ role: "user", content: "Use magic on 3, then magic on 4." }],
    tools: [
      {
        type: "function",
        function: {
          name: "magic",
          parameters,
          parse: JSON.parse,
          function: ({ number }) => {
            ran.push(number);
            return `magic ${number}`;
          },
        },
      },
    ],
  });
  assert.match(await runner.finalContent(), /magic 4/);
  assert.deepEqual(ran, [3, 4]);
});

test("tools that are streamed", async () => {
  const stream = client.chat.completions.stream({
    model: "aster",
    messages: [{ role: "user", content: "Use magic on 5." }],
    tools: [magic],
  });
  const message = await stream.finalMessage();
  assert.equal(message.tool_calls[0].function.arguments, '{"number":5}');
});

test("pictures and schemas", async () => {
  const Joke = z.object({ setup: z.string(), stars: z.number().int() });
  const found = await client.chat.completions.parse({
    model: "aster",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "a joke with 5 stars" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${dot}` } },
        ],
      },
    ],
    response_format: zodResponseFormat(Joke, "joke"),
  });
  assert.equal(found.choices[0].message.parsed.stars, 5);
});

test("errors are of the kinds that programs catch", async () => {
  const messages = [{ role: "user", content: "hi" }];
  await assert.rejects(client.chat.completions.create({ model: "nobody", messages }), OpenAI.NotFoundError);
  await assert.rejects(client.chat.completions.create({ model: "aster", messages, n: 2 }), OpenAI.BadRequestError);
  const stranger = new OpenAI({ baseURL: url, apiKey: "wrong", maxRetries: 0 });
  await assert.rejects(stranger.chat.completions.create({ model: "aster", messages }), OpenAI.AuthenticationError);
});

test("responses, in a chain, with tools, in the background", async () => {
  const one = await client.responses.create({ model: "aster", input: `hi ${Date.now()}` });
  assert.equal(one.output_text, talk);
  const stream = client.responses.stream({ model: "aster", input: "more", previous_response_id: one.id });
  const kinds = [];
  for await (const event of stream) kinds.push(event.type);
  assert.equal(kinds[0], "response.created");
  assert.equal(kinds.at(-1), "response.completed");
  assert.equal((await stream.finalResponse()).output_text, talk);
  const tools = [{ type: "function", name: "magic", parameters, strict: false }];
  const called = await client.responses.create({ model: "aster", input: "Use magic on 7.", tools });
  const call = called.output.find((item) => item.type === "function_call");
  const answered = await client.responses.create({
    model: "aster",
    previous_response_id: called.id,
    input: [{ type: "function_call_output", call_id: call.call_id, output: "seven" }],
    tools,
  });
  assert.match(answered.output_text, /seven/);
  const later = await client.responses.create({ model: "aster", input: `later ${Date.now()}`, background: true });
  for await (const event of await client.responses.retrieve(later.id, { stream: true })) {
    if (event.type === "response.completed") assert.equal(event.response.output[0].content[0].text, talk);
  }
  assert.equal((await client.responses.retrieve(later.id)).status, "completed");
  await client.responses.delete(later.id);
  await assert.rejects(client.responses.retrieve(later.id), OpenAI.NotFoundError);
});
