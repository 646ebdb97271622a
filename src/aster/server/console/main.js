// The page: which task is open (the address says it), what the composer does, and what the bar shows.

import { Api } from "./api.js";
import { Follower } from "./follow.js";
import { TaskList } from "./tasks.js";
import { Thread } from "./thread.js";
import { LogView } from "./view.js";

const LOOK_MS = 10_000;
const $ = (id) => document.getElementById(id);

const api = new Api(askKey);
const tasks = new TaskList(api, $("tasks"), $("more"));
const view = new LogView($("log"), (request, reply) =>
  api.post("/hitl/respond", { task_id: request.task_id, request_id: request.request_id, ...reply }),
);
let task = null; // the Follower of the open task
let connection = "idle";
let phase = null;
let looking = false;
let lookAgain = false;
let doubtful = null; // a message the engine may or may not have taken

function open(taskId) {
  task?.stop();
  doubtful = null;
  complain(null);
  const thread = new Thread();
  const follower = new Follower(api, taskId, thread, {
    change: () => task === follower && changed(),
    state: (state) => task === follower && connected(state),
    error: (error) => task === follower && gaveUp(error),
  });
  task = follower;
  connection = "idle";
  view.show(thread);
  tasks.mark(taskId);
  changed();
  showTasks(false);
  $("message").focus();
}

/** The list of tasks, where it has no place beside the log. */
function showTasks(shown) {
  $("side").classList.toggle("shown", shown);
  $("menu").setAttribute("aria-expanded", String(shown));
}

function openFromAddress() {
  const named = nameInAddress();
  if (named && named === task?.taskId) return;
  open(named || freshId());
  if (named) task.follow();
}

function nameInAddress() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

function freshId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `task-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function changed() {
  const { thread } = task;
  const arrived = (item) => item.kind === "said" && item.seq > doubtful.seq && item.text === doubtful.text;
  if (doubtful && thread.items.some(arrived)) {
    if ($("message").value.trim() === doubtful.text) write("");
    doubtful = null;
  }
  view.schedule();
  const said = thread.items.find((item) => item.kind === "said");
  $("title").textContent = said?.text.split("\n", 1)[0] || "New task";
  $("empty").hidden = thread.items.length > 0 || thread.waiting.size > 0;
  const busy = thread.running || thread.waiting.size > 0;
  for (const id of ["busy", "stop", "esc"]) $(id).hidden = !busy;
  const state = connection === "lost" ? "lost" : thread.asking ? "asking" : busy ? "running" : "idle";
  if ($("state").dataset.state === state && phase === thread.phase) return;
  phase = thread.phase;
  $("state").dataset.state = state;
  $("state").textContent = STATES[state];
  if (state !== "lost") look();
}

const STATES = { lost: "Connection lost, trying again…", asking: "Waits for you", running: "Running", idle: "" };

function connected(state) {
  if (state === "live" || (state === "idle" && connection === "lost")) complain(null);
  connection = state;
  changed();
}

function gaveUp(error) {
  connection = "idle";
  changed();
  complain(error.message);
}

async function send() {
  const text = $("message").value.trim();
  if (!text || $("send").disabled) return;
  const follower = task;
  doubtful = null;
  $("send").disabled = true;
  complain(null);
  write("");
  history.replaceState(null, "", `#${encodeURIComponent(follower.taskId)}`);
  try {
    await follower.send(text, $("mode").value);
    tasks.mark(follower.taskId);
  } catch (error) {
    refused(follower, text, error);
  } finally {
    $("send").disabled = false;
  }
}

/** The words go back to where they were written; when nobody knows whether they arrived, the thread will tell. */
function refused(follower, text, error) {
  if (task !== follower) return complain(`A message was not taken: ${error.message}`);
  if (!$("message").value) write(text);
  const unreachable = error.code === "UNREACHABLE";
  complain(unreachable ? `${error.message} Your message is still below.` : error.message);
  if (!unreachable) return;
  doubtful = { text, seq: follower.thread.seq };
  follower.follow();
}

async function stop() {
  try {
    await api.post("/execute/cancel", { task_id: task.taskId });
  } catch (error) {
    if (error.code !== "TASK_NOT_RUNNING") complain(error.message);
  }
}

function write(text) {
  $("message").value = text;
  fit();
}

function fit() {
  const field = $("message");
  field.rows = 1;
  while (field.rows < 10 && field.scrollHeight > field.clientHeight) field.rows++;
}

function complain(sentence) {
  $("problem").hidden = !sentence;
  $("problem").firstElementChild.textContent = sentence ?? "";
}

/** Others may use the engine too: look at the list, and into the open task if it runs and is not followed. */
async function look() {
  lookAgain = looking;
  if (looking) return;
  looking = true;
  try {
    const row = await tasks.refresh();
    if (row && row.status !== "idle") task.follow();
  } catch (error) {
    if (connection === "idle") complain(error.message);
  } finally {
    looking = false;
    if (lookAgain) look();
  }
}

function askKey(sentence) {
  const door = $("door");
  const origin = "It was set as ENGINE_API_KEY, or made with “aster keys create”.";
  $("door-reason").textContent = sentence ?? origin;
  $("key").value = "";
  if (!door.open) door.showModal();
  return new Promise((resolve) => {
    door.querySelector("form").onsubmit = (event) => {
      event.preventDefault();
      if (!$("key").value.trim()) return;
      door.close();
      resolve($("key").value.trim());
    };
  });
}

async function introduce() {
  const health = await api.get("/health").catch(() => null);
  if (!health) return;
  const { provider, model, note } = health.subsystems.llm;
  const demo = provider === "demo";
  $("about").textContent = `${health.version} · ${demo ? "no model configured" : model}`;
  if (demo) {
    $("hint").textContent =
      "No model is configured, so a small built-in script answers. Try “run ls -la”, “ask me” or “think”.";
  } else if (note) {
    $("hint").textContent = note;
  }
}

function listen() {
  addEventListener("hashchange", openFromAddress);
  $("new").addEventListener("click", () => {
    history.pushState(null, "", location.pathname);
    open(freshId());
  });
  $("menu").addEventListener("click", () => showTasks(!$("side").classList.contains("shown")));
  $("tasks").addEventListener("click", () => showTasks(false));
  $("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  $("message").addEventListener("input", fit);
  $("message").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  });
  $("stop").addEventListener("click", stop);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !$("door").open && !$("stop").hidden && !event.isComposing) stop();
  });
  $("problem").querySelector("button").addEventListener("click", () => complain(null));
  $("door").addEventListener("cancel", (event) => event.preventDefault());
  document.addEventListener("visibilitychange", () => document.hidden || look());
  setInterval(() => document.hidden || look(), LOOK_MS);
}

listen();
openFromAddress();
introduce();
