import { describe, expect, it } from "vitest";
import { Growing, lexed } from "../src/markdown/growing.ts";

const TEXT = `# Title

A paragraph with **marks** and a
second line.

- one
- two

  still two

1. first

| a | b |
|---|---|
| 1 | 2 |

\`\`\`js
let a = 1;

let b = 2;
\`\`\`

> quoted

End of it.
`;

describe("Growing", () => {
  it("ends with what the whole text is, however it was cut", () => {
    for (const size of [1, 3, 7, 20]) {
      const growing = new Growing();
      let tokens = growing.lex("");
      for (let end = 0; end < TEXT.length + size; end += size) tokens = growing.lex(TEXT.slice(0, end));
      expect(tokens).toEqual(lexed(TEXT));
    }
  });

  it("keeps the blocks that more text cannot change", () => {
    const growing = new Growing();
    const [first] = growing.lex(TEXT);
    const [second] = growing.lex(`${TEXT}\n\nMore.`);
    growing.lex(`${TEXT}\n\nMore.\n\nAnd more.`);
    expect(second).toBe(first);
  });

  it("begins anew when the text is another one", () => {
    const growing = new Growing();
    growing.lex(TEXT);
    expect(growing.lex("Something else.")).toEqual(lexed("Something else."));
  });

  it("gives up in time on what is made to take for ever", () => {
    const begun = performance.now();
    const nested = lexed(`${">".repeat(20_000)} x`);
    expect(nested.map((token) => token.type)).toEqual(["text"]);
    for (const evil of ["_a", "[", "![", "`a", "**a ", "[a]("]) lexed(evil.repeat(200_000 / evil.length));
    expect(performance.now() - begun).toBeLessThan(15_000);
  });
});
