// Markdown that grows while it is read. Blocks that more text cannot change are parsed once and stay the same objects, so
// that what is drawn for them stays too; the end is parsed again. Whatever is written, parsing ends soon: a passage too
// long to look for marks in stays plain text, and what is nested beyond reason is one plain block.

import { Lexer, type Token, type Tokens } from "marked";

const INLINE_CHARS = 8000;
/** How many blocks at the end may still change: a list goes on after an empty line. */
const OPEN = 3;

export class Growing {
  #text = "";
  #settled: Token[] = [];
  #length = 0;

  lex(given: string): Token[] {
    const text = given.replace(/\r\n?/g, "\n");
    if (!text.startsWith(this.#text)) {
      this.#settled = [];
      this.#length = 0;
    }
    this.#text = text;
    const rest = lexed(text.slice(this.#length));
    const all = [...this.#settled, ...rest];
    for (const token of rest.slice(0, Math.max(0, rest.length - OPEN))) {
      this.#settled.push(token);
      this.#length += token.raw.length;
    }
    return all;
  }
}

export function lexed(text: string): Token[] {
  const lexer = new Lexer({ gfm: true, breaks: false });
  try {
    lexer.blockTokens(text, lexer.tokens);
    for (const { src, tokens } of lexer.inlineQueue) {
      if (src.length > INLINE_CHARS) tokens.push(plain(src));
      else lexer.inlineTokens(src, tokens);
    }
    return [...lexer.tokens];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [plain(text)];
  }
}

function plain(text: string): Tokens.Text {
  return { type: "text", raw: text, text, escaped: false };
}
