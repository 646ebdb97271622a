// Markdown as elements. The parser gives tokens and each becomes an element here; text never becomes HTML, so nothing in
// it can be more than text. Links lead only to where a browser may safely go.

import type { Token, Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useRef, useState } from "preact/hooks";
import { safeHref, visible } from "../lib/safe.ts";
import { Code } from "./code.tsx";
import { Growing, lexed } from "./growing.ts";
import { Long, Many, More } from "./long.tsx";
import css from "./markdown.module.css";

const DEEPEST = 20;
const MOST_ROWS = 200;
const MOST_BLOCKS = 2000;
const ENTITY = /&(amp|lt|gt|quot|#39);/g;
const PLAIN: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** The names that Markdown shares with HTML for a few signs. */
const plain = (text: string): string => text.replace(ENTITY, (_, name: string) => PLAIN[name] ?? "");

interface Props {
  text: string;
  /** Whether more of it may come. */
  growing?: boolean;
}

export const Markdown = memo(function Markdown({ text, growing = false }: Props) {
  const grown = useRef(new Growing());
  const tokens = growing ? grown.current.lex(text) : lexed(text.replace(/\r\n?/g, "\n"));
  return <div class={css.markdown}>{blocks(tokens, 0)}</div>;
});

function blocks(tokens: Token[], depth: number): ComponentChildren {
  const shown = tokens.filter((token) => token.type !== "space" && token.type !== "def");
  return <Many of={shown} most={MOST_BLOCKS} draw={(token) => <Block token={token} depth={depth} />} />;
}

/** Drawn again only when the parser has made it anew. */
const Block = memo(
  function Block({ token, depth }: { token: Token; depth: number }) {
    return drawn(token, depth);
  },
  (was, now) => was.token === now.token,
);

function drawn(token: Token, depth: number): ComponentChildren {
  if (depth > DEEPEST) return <p>{token.raw}</p>;
  switch (token.type) {
    case "checkbox":
      return null;
    case "heading":
      return <Heading token={token as Tokens.Heading} />;
    case "code":
      return <Code text={token.text} language={token.lang ?? ""} />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [], depth + 1)}</blockquote>;
    case "list":
      return <List token={token as Tokens.List} depth={depth} />;
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    default:
      return "tokens" in token && token.tokens ? inline(token.tokens) : <Paragraph text={plain(token.raw)} />;
  }
}

function Paragraph({ text }: { text: string }) {
  return (
    <p>
      <Long text={text} />
    </p>
  );
}

function Heading({ token }: { token: Tokens.Heading }) {
  const Tag = `h${Math.min(token.depth + 2, 6)}` as "h3";
  return <Tag class={css[`h${token.depth}`]}>{inline(token.tokens)}</Tag>;
}

function List({ token, depth }: { token: Tokens.List; depth: number }) {
  const Tag = token.ordered ? "ol" : "ul";
  const start = token.ordered && token.start !== "" ? { start: token.start } : {};
  return (
    <Tag {...start}>
      {token.items.slice(0, MOST_BLOCKS).map((item, at) => (
        <li key={at} class={item.task ? css.task : undefined}>
          {item.task ? (
            <input type="checkbox" checked={item.checked ?? false} disabled aria-label="done" />
          ) : null}
          {blocks(item.tokens, depth + 1)}
        </li>
      ))}
      {token.items.length > MOST_BLOCKS ? (
        <li>
          <Long
            text={token.items
              .slice(MOST_BLOCKS)
              .map((item) => item.raw)
              .join("")}
          />
        </li>
      ) : null}
    </Tag>
  );
}

function Table({ token }: { token: Tokens.Table }) {
  const [most, setMost] = useState(MOST_ROWS);
  const cells = (row: Tokens.TableCell[], Tag: "th" | "td") =>
    row.map((cell, at) => (
      <Tag key={at} style={cell.align ? { textAlign: cell.align } : undefined}>
        {inline(cell.tokens)}
      </Tag>
    ));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <div class={css.table} tabIndex={0}>
      <table>
        <thead>
          <tr>{cells(token.header, "th")}</tr>
        </thead>
        <tbody>
          {token.rows.slice(0, most).map((row, at) => (
            <tr key={at}>{cells(row, "td")}</tr>
          ))}
        </tbody>
      </table>
      {token.rows.length > most ? (
        <More left={token.rows.length - most} more={() => setMost(most * 10)} />
      ) : null}
    </div>
  );
}

function inline(tokens: Token[] | undefined): ComponentChildren[] {
  return (tokens ?? []).map((token, at) => <Inline key={at} token={token} />);
}

function Inline({ token }: { token: Token }): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return <code>{visible(token.text)}</code>;
    case "br":
      return <br />;
    case "link":
      return <Anchor href={token.href}>{inline(token.tokens)}</Anchor>;
    case "image":
      return <Anchor href={token.href}>{token.text || token.href}</Anchor>;
    default:
      return "tokens" in token && token.tokens ? inline(token.tokens) : <Long text={plain(textOf(token))} />;
  }
}

const textOf = (token: Token): string => ("text" in token ? token.text : token.raw);

/** A picture from elsewhere is a link too: showing it would tell its host who looks. */
function Anchor({ href, children }: { href: string; children: ComponentChildren }) {
  const safe = safeHref(href);
  if (safe === null) return children;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
