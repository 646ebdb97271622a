// A request to a person, in the log where it was made: approve or refuse a call, answer a question, or settle what
// became of a call that a restart cut off. Nothing is sent but by a button or Enter in a field.

import { el, plain } from "./dom.js";
import { inline } from "./inline.js";

const ALWAYS = { "always task": "Yes, always in this task", "always everywhere": "Yes, always" };
const IN_DOUBT = { done: "It finished", again: "Run it again", skip: "Leave it" };

/** The node of an open request; `respond({answer, feedback})` resolves when the engine has the answer. */
export function askNode(item, respond) {
  const { request } = item;
  const question = el("p", { class: "question" }, ...inline(plain(request.question)));
  const node = el("section", { class: "ask", "aria-label": "The agent asks you" }, question);
  if (item.state === "open") node.append(form(request, respond));
  else node.append(outcome(item));
  return node;
}

function outcome(item) {
  if (item.state === "void") return el("p", { class: "answer" }, "Not answered; the turn has ended.");
  const feedback = item.feedback ? ` “${item.feedback}”` : "";
  return el("p", { class: "answer" }, "Answered: ", el("strong", { text: item.answer }), feedback);
}

function form(request, respond) {
  const placeholder = hint(request);
  const field = el("input", { type: "text", autocomplete: "off", placeholder, "aria-label": placeholder });
  const problem = el("p", { class: "problem", role: "alert" });
  const node = el("form", { onsubmit: (event) => event.preventDefault() });
  const say = async (reply) => {
    problem.textContent = "";
    lock(node, true);
    try {
      await respond(reply);
    } catch (error) {
      problem.textContent = error.message;
      lock(node, false);
    }
  };
  const choose = (answer) => say({ answer, feedback: field.value.trim() || undefined });
  const write = () => field.value.trim() && say({ answer: field.value.trim() });
  const row = el("div", { class: "row" });
  if (request.kind === "permission") {
    row.append(button("Yes, run it", "primary", () => choose("yes")), button("No", "", () => choose("no")), field);
  } else if (request.kind === "in_doubt") {
    const options = (request.options ?? []).map((name) => button(IN_DOUBT[name] ?? name, "", () => choose(name)));
    row.append(...options, field);
  } else {
    const options = (request.options ?? []).map((name) => button(plain(name), "", () => say({ answer: name })));
    if (options.length) node.append(el("div", { class: "row" }, ...options));
    row.append(field, button("Answer", "primary", write));
    node.addEventListener("submit", write);
  }
  node.append(row, ...lasting(request, choose), problem);
  return node;
}

/** The answers that also hold for later calls, and which calls those are. */
function lasting(request, choose) {
  const names = Object.keys(ALWAYS).filter((name) => request.offer && (request.options ?? []).includes(name));
  if (!names.length) return [];
  const calls = el("code", { text: plain(`${request.offer.tool}: ${request.offer.pattern}`) });
  const buttons = names.map((name) => button(ALWAYS[name], "", () => choose(name)));
  return [el("div", { class: "row" }, ...buttons, el("span", {}, "without asking: ", calls))];
}

function hint(request) {
  if (request.kind === "permission") return "What to do instead, or a remark (optional)";
  return request.kind === "in_doubt" ? "A remark (optional)" : "Your answer";
}

function button(text, style, press) {
  return el("button", { type: "button", class: style, text, onclick: press });
}

function lock(form, on) {
  for (const control of form.querySelectorAll("button, input")) control.disabled = on;
}
