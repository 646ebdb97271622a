import assert from "node:assert/strict";
import { test } from "node:test";
import { events, Lost, SseParser } from "../../../src/aster/server/console/sse.js";

const STREAM =
  'id: 1\nevent: a\ndata: {"seq":1,"text":"é — 😀"}\n\nevent: b\r\ndata: {"x":\r\ndata: 2}\r\n\r\n: remark\nid: 3\rdata: {}\r\r';
const FRAMES = [
  { event: "a", data: '{"seq":1,"text":"é — 😀"}', id: "1" },
  { event: "b", data: '{"x":\n2}', id: "1" },
  { event: "message", data: "{}", id: "3" },
];

function body(...chunks) {
  return new ReadableStream({
    start(controller) {
      chunks.forEach((chunk) => controller.enqueue(chunk));
      controller.close();
    },
  });
}

async function collect(stream, options = {}) {
  const found = [];
  const { signal } = new AbortController();
  for await (const event of events(stream, { signal, silenceMs: 5000, ...options })) found.push(event);
  return found;
}

test("however a stream is cut, the same frames come out", () => {
  for (let first = 0; first <= STREAM.length; first++) {
    for (let second = first; second <= STREAM.length; second++) {
      const parser = new SseParser();
      const parts = [STREAM.slice(0, first), STREAM.slice(first, second), STREAM.slice(second)];
      assert.deepEqual(parts.flatMap((part) => parser.push(part)), FRAMES);
    }
  }
});

test("a frame the stream ends in is not one", () => {
  assert.deepEqual(new SseParser().push("id: 1\ndata: {}\n"), []);
});

test("a character may be cut in the middle", async () => {
  const bytes = new TextEncoder().encode(STREAM);
  const found = await collect(body(...Array.from(bytes, (byte) => Uint8Array.of(byte))));
  assert.deepEqual(found, [{ seq: 1, text: "é — 😀" }, { x: 2 }, {}]);
});

test("a connection that goes silent is lost", async () => {
  await assert.rejects(collect(new ReadableStream(), { silenceMs: 10 }), Lost);
});

test("a connection that breaks is lost", async () => {
  const broken = new ReadableStream({ start: (controller) => controller.error(new TypeError("network")) });
  await assert.rejects(collect(broken), Lost);
});
