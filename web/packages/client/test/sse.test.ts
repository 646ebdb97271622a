// @vitest-environment node
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SseParser } from "../src/sse.ts";

const STREAM =
  '\uFEFF: hello\r\nid: 7\nevent: text_delta\ndata: {"text":\ndata: "a\u2028b"}\r\n\r\ndata\n\nevent: x\n\ndata: cut';
const FRAMES = [
  { event: "text_delta", data: '{"text":\n"a\u2028b"}', id: "7" },
  { event: "message", data: "", id: "7" },
];

interface Case {
  name: string;
  stream: string;
  events: { event: string; data: string; id: string }[];
}

/** Cases that parsers are commonly tested with; they are not part of this project and may be missing. */
const PUBLIC = join(import.meta.dirname, "../../../../../shared/data/sse_cases_dev.json");
const cases = existsSync(PUBLIC) ? (JSON.parse(readFileSync(PUBLIC, "utf8")) as Case[]) : [];

describe("SseParser", () => {
  it("reads the public cases, whole and sign by sign", () => {
    for (const { name, stream, events } of cases) {
      expect(new SseParser().push(stream), name).toEqual(events);
      const parser = new SseParser();
      expect(
        [...stream].flatMap((sign) => parser.push(sign)),
        name,
      ).toEqual(events);
    }
  });

  it("gives the same frames however the stream is cut", () => {
    for (let size = 1; size <= STREAM.length; size++) {
      const parser = new SseParser();
      const found = [];
      for (let at = 0; at < STREAM.length; at += size)
        found.push(...parser.push(STREAM.slice(at, at + size)));
      expect(found).toEqual(FRAMES);
    }
  });

  it("takes CR, LF and CRLF as ends of lines, and nothing else", () => {
    const parser = new SseParser();
    expect(parser.push("data: a\rdata: b\r\rdata: \u0085c\v\n\n")).toEqual([
      { event: "message", data: "a\nb", id: "" },
      { event: "message", data: "\u0085c\v", id: "" },
    ]);
  });
});
