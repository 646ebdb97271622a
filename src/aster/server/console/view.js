// The log: one node per item of the thread, made when the item is new, changed when the item has changed, at most
// once per frame. All of it is built from nodes and text.

import { askNode } from "./ask.js";
import { el, plain, seconds } from "./dom.js";
import { blocks, render } from "./markdown.js";
import { textOf } from "./thread.js";

const NEAR_END = 80;
const STATUS = {
  written: "being written",
  waiting: "waits for you",
  running: "running…",
  done: "done",
  failed: "failed",
  dropped: "not run",
};
const FAILURES = { cancelled: "stopped", permission_denied: "refused", in_doubt: "unknown" };
const MODES = { queue: "Waits for this turn to end", steer: "Will be handed over", interrupt: "Interrupts" };

export class LogView {
  #log;
  #respond;
  #nodes = new Map();
  #waiting = el("div", { class: "waiting" });
  #scheduled = false;
  #thread = null;
  #pinned = true; // the reader is at the end and wants to stay there

  /** `respond(request, reply)` sends a person's answer. */
  constructor(log, respond) {
    this.#log = log;
    this.#respond = respond;
    log.addEventListener("scroll", () => (this.#pinned = atEnd(log)));
    new ResizeObserver(() => this.#toEnd()).observe(log);
  }

  show(thread) {
    this.#thread = thread;
    this.#nodes.clear();
    this.#log.replaceChildren(this.#waiting);
    for (const item of thread.items) thread.touch(item);
    this.#pinned = true;
    this.#draw();
  }

  #toEnd() {
    if (this.#pinned) this.#log.scrollTop = this.#log.scrollHeight;
  }

  schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // A hidden page gets no frames, and has to keep up all the same.
    const later = document.hidden ? (work) => setTimeout(work, 250) : requestAnimationFrame;
    later(() => {
      this.#scheduled = false;
      this.#draw();
    });
  }

  #draw() {
    const thread = this.#thread;
    const shown = new Set(thread.items);
    for (const [item, node] of this.#nodes) {
      if (shown.has(item)) continue;
      node.remove();
      this.#nodes.delete(item);
    }
    for (const item of thread.changed) if (shown.has(item)) this.#update(item);
    thread.changed.clear();
    this.#drawWaiting(thread.waiting);
    this.#log.setAttribute("aria-busy", String(thread.running && !thread.asking));
    this.#toEnd();
  }

  #update(item) {
    const before = this.#nodes.get(item);
    if (before && UPDATES[item.kind]) return void UPDATES[item.kind](before, item);
    const node = MAKERS[item.kind](item, (reply) => this.#respond(item.request, reply));
    UPDATES[item.kind]?.(node, item);
    this.#nodes.set(item, node);
    node.dataset.state = item.state ?? "";
    if (before) before.replaceWith(node);
    else this.#waiting.before(node);
  }

  #drawWaiting(messages) {
    const nodes = [...messages.values()].map(({ text, mode }) =>
      el("div", { class: "said" }, el("p", { text }), el("small", { text: MODES[mode] ?? "Sending…" })),
    );
    this.#waiting.replaceChildren(...nodes);
  }
}

const MAKERS = {
  said(item) {
    const media = item.media ? `with ${item.media} attached` : "";
    const remark = [item.how, media].filter(Boolean).join(", ");
    const words = el("p", { text: item.text, dir: "auto" });
    return el("div", { class: "said" }, words, remark ? el("small", { text: remark }) : null);
  },
  passage(item) {
    if (!item.thinking) return el("div", { class: "answered", dir: "auto" });
    return el("details", { class: "thinking" }, el("summary"), el("p", { dir: "auto" }));
  },
  card() {
    const [brief, status] = [el("span", { class: "brief" }), el("span", { class: "status" })];
    const summary = el("summary", {}, el("code", { class: "tool" }), brief, status);
    const input = el("pre", { class: "input", tabindex: "0", "aria-label": "Input" });
    const output = el("pre", { class: "output", tabindex: "0", "aria-label": "Output" });
    return el("details", { class: "card", open: true }, summary, input, output);
  },
  ask: (item, respond) => askNode(item, respond),
  note: (item) => el("p", { class: `note ${item.tone}`, text: item.text }),
  end: (item) => el("p", { class: `end ${item.phase}`, text: ending(item) }),
};

const UPDATES = {
  passage(node, item) {
    if (!item.thinking) return void grow(node, textOf(item));
    node.firstChild.textContent = item.done ? "Thought" : "Thinking…";
    node.lastChild.textContent = textOf(item);
    node.classList.toggle("live", !item.done);
  },
  card(node, item) {
    const [summary, input, output] = node.children;
    const [tool, brief, status] = summary.children;
    node.dataset.status = item.status;
    if (item.folded && !node.folded) node.open = !(node.folded = true);
    tool.textContent = item.tool;
    brief.textContent = plain(inBrief(item.input));
    status.textContent = [FAILURES[item.error] ?? STATUS[item.status], seconds(item.ms)].filter(Boolean).join(" · ");
    write(input, item.input === null ? "" : plain(inFull(item.input)));
    write(output, item.output ?? item.progress);
  },
};

/** A text that grows: blocks that have not changed stay as they are, also when some of them is selected. */
function grow(node, text) {
  const found = blocks(text);
  const before = node.raw ?? [];
  let same = 0;
  while (same < before.length && before[same] === found[same]?.raw) same++;
  while (node.childNodes.length > same) node.lastChild.remove();
  node.append(...found.slice(same).map((block) => render(block)));
  node.raw = found.map((block) => block.raw);
}

function atEnd(node) {
  return node.scrollHeight - node.scrollTop - node.clientHeight < NEAR_END;
}

function write(pre, text) {
  const follow = atEnd(pre);
  pre.hidden = !text;
  if (pre.textContent === text) return;
  pre.textContent = text;
  if (follow) pre.scrollTop = pre.scrollHeight;
}

function inBrief(input) {
  const value = Object.values(input ?? {}).find((found) => typeof found === "string") ?? "";
  return value.split("\n", 1)[0].slice(0, 200);
}

function inFull(input) {
  const values = Object.entries(input);
  if (values.length === 1 && typeof values[0][1] === "string") return values[0][1];
  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  return values.map(([name, value]) => `${name}: ${shown(value)}`).join("\n");
}

function ending({ phase, reason, usage, ms }) {
  const how = { completed: "", errored: "Failed", cancelled: "Stopped" }[phase];
  const why = phase === "completed" && reason && reason !== "end_turn" ? `Ended by ${reason}` : how;
  const number = (count) => count.toLocaleString("en");
  const tokens = usage.input + usage.output ? `${number(usage.input)} tokens in, ${number(usage.output)} out` : "";
  const cost = usage.cost === null ? "" : `$${usage.cost.toFixed(usage.cost < 0.01 ? 5 : 2)}`;
  return [why, seconds(ms), tokens, cost].filter(Boolean).join(" · ");
}
