// Markdown in blocks: headings, paragraphs, lists, quotes, fences, tables, rules. `blocks` cuts a text, `render`
// makes one block's node; while a text grows only its last blocks change, so only they have to be made again.

import { el } from "./dom.js";
import { inline } from "./inline.js";

const DEEPEST = 6;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,12})([-*+]|\d{1,9}[.)])(?:[ \t]+(.*))?$/;
const DIVIDER = /^[ |:-]*-[ |:-]*$/;

/** Top-level blocks: `{type, raw, …}`, where equal `raw` means an equal node. */
export function blocks(text) {
  const lines = text.split(/\r\n|\r|\n/);
  const found = [];
  for (let at = 0; at < lines.length; ) {
    if (!lines[at].trim()) {
      at++;
      continue;
    }
    const block = fence(lines, at) ?? heading(lines, at) ?? rule(lines, at) ?? quote(lines, at);
    const next = block ?? list(lines, at) ?? table(lines, at) ?? paragraph(lines, at);
    next.raw = `${next.type}\n${lines.slice(at, next.end).join("\n")}`;
    at = next.end;
    found.push(next);
  }
  return found;
}

export function render(block, depth = 0) {
  switch (block.type) {
    case "fence":
      return el("pre", {}, el("code", { text: block.text }));
    case "heading":
      return el(`h${Math.min(block.level + 2, 6)}`, {}, ...inline(block.text));
    case "rule":
      return el("hr");
    case "quote":
      return el("blockquote", {}, ...inside(block.text, depth));
    case "list":
      return listNode(block, depth);
    case "table":
      return tableNode(block);
    default:
      return el("p", {}, ...inline(block.text));
  }
}

function inside(text, depth) {
  return depth < DEEPEST ? blocks(text).map((block) => render(block, depth + 1)) : [text];
}

function fence(lines, at) {
  const open = lines[at].match(FENCE)?.[1];
  if (!open) return null;
  let end = at + 1;
  const closes = (line) => {
    const mark = line.trim();
    return mark.length >= open.length && mark === open[0].repeat(mark.length);
  };
  while (end < lines.length && !closes(lines[end])) end++;
  return { type: "fence", text: lines.slice(at + 1, end).join("\n"), end: Math.min(end + 1, lines.length) };
}

function heading(lines, at) {
  const found = lines[at].match(HEADING);
  return found && { type: "heading", level: found[1].length, text: found[2].replace(/ #+$/, "").trim(), end: at + 1 };
}

function rule(lines, at) {
  return /^([-*_])\1{2,}$/.test(lines[at].replaceAll(" ", "")) ? { type: "rule", end: at + 1 } : null;
}

function quote(lines, at) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end++;
  if (end === at) return null;
  const text = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return { type: "quote", text: text.join("\n"), end };
}

function list(lines, at) {
  const first = lines[at].match(ITEM);
  if (!first) return null;
  const [, indent, marker] = first;
  const ordered = /\d/.test(marker);
  const items = [];
  let end = at;
  for (; end < lines.length; end++) {
    const line = lines[end];
    const found = line.match(ITEM);
    const within = line.search(/\S/) > indent.length;
    if (found && !within && /\d/.test(found[2]) === ordered) {
      items.push([found[3] ?? ""]);
    } else if (within) {
      items.at(-1).push(line.slice(Math.min(line.search(/\S/), indent.length + marker.length + 1)));
    } else if (!line.trim() && goesOn(lines, end + 1, indent.length, ordered)) {
      items.at(-1).push("");
    } else if (!line.trim() || found || !lines[end - 1].trim() || begins(lines, end)) {
      break;
    } else {
      items.at(-1).push(line);
    }
  }
  const start = ordered ? Number.parseInt(marker, 10) : 1;
  return { type: "list", ordered, start, items: items.map((item) => item.join("\n").trimEnd()), end };
}

function goesOn(lines, at, indent, ordered) {
  const found = lines[at]?.match(ITEM);
  const column = lines[at]?.search(/\S/) ?? -1;
  return column > indent || Boolean(found && column >= 0 && /\d/.test(found[2]) === ordered);
}

function listNode(block, depth) {
  const items = block.items.map((text) => {
    const parts = depth < DEEPEST ? blocks(text) : [];
    const tight = parts[0]?.type === "paragraph" && !text.includes("\n\n");
    if (!tight) return el("li", {}, ...inside(text, depth));
    return el("li", {}, ...inline(parts[0].text), ...parts.slice(1).map((part) => render(part, depth + 1)));
  });
  return el(block.ordered ? "ol" : "ul", { start: block.start > 1 ? String(block.start) : null }, ...items);
}

function table(lines, at) {
  const divider = lines[at + 1] ?? "";
  if (!lines[at].includes("|") || !divider.includes("|") || !DIVIDER.test(divider)) return null;
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end++;
  const [head, , ...rows] = lines.slice(at, end).map(cells);
  return { type: "table", head, rows, end };
}

function cells(line) {
  return line.trim().replace(/^\|/, "").replace(/\|$/, "").split("|").map((cell) => cell.trim());
}

function tableNode(block) {
  const row = (tag, found) => el("tr", {}, ...block.head.map((_, at) => el(tag, {}, ...inline(found[at] ?? ""))));
  const head = el("thead", {}, row("th", block.head));
  const body = el("tbody", {}, ...block.rows.map((found) => row("td", found)));
  return el("div", { class: "table" }, el("table", {}, head, body));
}

function begins(lines, at) {
  return Boolean(fence(lines, at) ?? heading(lines, at) ?? rule(lines, at) ?? quote(lines, at));
}

function paragraph(lines, at) {
  let end = at + 1;
  const goes = (line) => line.trim() && !begins(lines, end) && !line.match(ITEM) && !table(lines, end);
  while (end < lines.length && goes(lines[end])) end++;
  return { type: "paragraph", text: lines.slice(at, end).map((line) => line.trim()).join("\n"), end };
}
