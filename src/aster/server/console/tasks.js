// The list of tasks, newest change first. It is asked for anew when something may have changed, and never
// decides anything: choosing a task only changes the address of the page.

import { el } from "./dom.js";

const MARKS = { running: "running", suspended: "waits for you", idle: "" };

export class TaskList {
  #api;
  #node;
  #more;
  #size = 50;
  #current = null;
  #tasks = [];

  constructor(api, node, more) {
    this.#api = api;
    this.#node = node;
    this.#more = more;
    more.addEventListener("click", () => {
      this.#size = Math.min(this.#size + 100, 500);
      this.refresh();
    });
  }

  /** Asks again; returns the current task's row, if it is on the list. */
  async refresh() {
    const page = await this.#api.get("/tasks", { limit: this.#size });
    this.#tasks = page.tasks;
    this.#more.hidden = page.next === null || this.#size >= 500;
    this.#draw();
    return this.#tasks.find((task) => task.task_id === this.#current);
  }

  mark(taskId) {
    this.#current = taskId;
    this.#draw();
  }

  #draw() {
    const active = document.activeElement;
    const focused = this.#node.contains(active) ? active.getAttribute("href") : null;
    this.#node.replaceChildren(...this.#tasks.map((task) => this.#row(task)));
    if (this.#tasks.length === 0) this.#node.append(el("li", { class: "empty", text: "No tasks yet." }));
    if (focused) [...this.#node.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus();
  }

  #row(task) {
    const current = task.task_id === this.#current ? "page" : null;
    const title = el("span", { class: "title", dir: "auto", text: task.title || task.task_id });
    const state = MARKS[task.status] ?? task.status;
    const when = el("time", { datetime: task.updated_at, text: ago(task.updated_at) });
    const facts = el("small", { class: task.status }, state ? `${state} · ` : "", when);
    const href = `#${encodeURIComponent(task.task_id)}`;
    return el("li", {}, el("a", { href, "aria-current": current }, title, facts));
  }
}

function ago(timestamp) {
  const minutes = Math.floor((Date.now() - Date.parse(timestamp)) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return new Date(timestamp).toLocaleDateString();
}
