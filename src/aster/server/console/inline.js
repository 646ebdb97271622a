// Markdown inside a line: code, bold, italic, struck text, links. It makes text, and elements from a fixed list.
// Every search ahead is bounded or remembered, so that no text can make it slow.

import { el } from "./dom.js";

const DEEPEST = 8;
const LABEL_CHARS = 1000;
const ADDRESS_CHARS = 4000;
const SHOWN_CHARS = 80;
const BARE = /https?:\/\/[^\s<>"'`\\]+/y;
const ADDRESS = /^\s*<?([^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?[^)\n]*\)/; // and a title, which is not used
const SPECIAL = /[\\`*_~!\[h\n]/g;
const MARKS = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "s"],
  ["*", "em"],
  ["_", "em"],
];

/** The nodes for a run of text. */
export function inline(text, depth = 0) {
  const nodes = [];
  const hopeless = new Set();
  let plain = "";
  let at = 0;
  const put = (node) => {
    if (plain) nodes.push(plain);
    plain = "";
    nodes.push(node);
  };
  while (at < text.length) {
    const found = read(text, at, depth, hopeless);
    if (found?.node) put(found.node);
    else if (found) plain += found.text;
    if (found) {
      at = found.end;
      continue;
    }
    SPECIAL.lastIndex = at + 1;
    const next = SPECIAL.exec(text)?.index ?? text.length;
    plain += text.slice(at, next);
    at = next;
  }
  if (plain) nodes.push(plain);
  return nodes;
}

function read(text, at, depth, hopeless) {
  const char = text[at];
  if (char === "\n") return { node: el("br"), end: at + 1 };
  if (char === "\\") return /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "") ? { text: text[at + 1], end: at + 2 } : null;
  if (char === "`") return code(text, at);
  if (char === "[" || char === "!") return labelled(text, at, depth);
  if (char === "h") return bare(text, at);
  return depth < DEEPEST ? marked(text, at, depth, hopeless) : null;
}

function code(text, at) {
  let ticks = 1;
  while (text[at + ticks] === "`") ticks++;
  for (let from = at + ticks; ; ) {
    const open = text.indexOf("`".repeat(ticks), from);
    if (open < 0) return { text: "`".repeat(ticks), end: at + ticks };
    let end = open + ticks;
    while (text[end] === "`") end++;
    if (end - open === ticks) return { node: el("code", { text: text.slice(at + ticks, open) }), end };
    from = end;
  }
}

function marked(text, at, depth, hopeless) {
  const [mark, tag] = MARKS.find(([mark]) => text.startsWith(mark, at)) ?? [];
  if (!mark || hopeless.has(mark)) return null;
  const start = at + mark.length;
  const inWord = mark[0] === "_" && /\w/.test(text[at - 1] ?? "");
  if (inWord || !/\S/.test(text[start] ?? "")) return null;
  for (let end = text.indexOf(mark, start + 1); end >= 0; end = text.indexOf(mark, end + 1)) {
    const after = text[end + mark.length] ?? "";
    const closes = /\S/.test(text[end - 1]) && !(mark[0] === "_" && /\w/.test(after));
    if (!closes || (mark.length === 1 && (after === mark || text[end - 1] === mark))) continue;
    return { node: el(tag, {}, ...inline(text.slice(start, end), depth + 1)), end: end + mark.length };
  }
  hopeless.add(mark);
  return null;
}

/** `[label](address)`, and `![label](address)`, which is a link too: no picture is fetched. */
function labelled(text, at, depth) {
  const start = text[at] === "!" ? at + 2 : at + 1;
  if (text[start - 1] !== "[") return null;
  const label = text.slice(start, start + LABEL_CHARS).match(/^([^[\]]*)\]\(/)?.[1];
  if (label === undefined) return null;
  const from = start + label.length + 2;
  const address = text.slice(from, from + ADDRESS_CHARS).match(ADDRESS);
  const url = address && webAddress(address[1]);
  return url ? { node: link(url, label), end: from + address[0].length } : null;
}

function bare(text, at) {
  BARE.lastIndex = at;
  const found = BARE.exec(text)?.[0].replace(/[.,:;!?*_~)\]}]+$/, "");
  const url = found && webAddress(found);
  return url ? { node: link(url, ""), end: at + found.length } : null;
}

function webAddress(text) {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  return new URL(text);
}

/** A link always shows where it leads, as the browser understands it. */
function link(url, label) {
  const shown = url.href.length > SHOWN_CHARS ? `${url.href.slice(0, SHOWN_CHARS)}…` : url.href;
  const properties = { href: url.href, target: "_blank", rel: "noopener noreferrer", title: url.href };
  const same = !label || label === url.href || `${label}/` === url.href;
  if (same) return el("a", properties, shown);
  return el("a", properties, label, el("span", { class: "address" }, ` (${shown})`));
}
