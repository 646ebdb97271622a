// What a thread shows of work that outlives its turns: the board, worktrees, mail of a team, schedules, workflows,
// projects, and what runs in the background.

import type { AsterEvent } from "@aster/client";
import type { Folds } from "./folds.ts";
import type { Told } from "./items.ts";

type Tone = Told["tone"];
type Event<T extends AsterEvent["type"]> = Extract<AsterEvent, { type: T }>;

const at = (path: string, id: string): string => `${path}/${encodeURIComponent(id)}`;
const item = (id: string, board = "main"): string =>
  `/work?${new URLSearchParams({ ...(board !== "main" && { board }), item: id })}`;

const WORK: Record<Event<"work_update">["action"], readonly [title: string, tone: Tone]> = {
  created: ["Put on the board", "plain"],
  updated: ["Changed", "plain"],
  linked: ["Waits for something else now", "plain"],
  claimed: ["Taken", "info"],
  completed: ["Done", "good"],
  released: ["Given back", "warn"],
  reopened: ["Put back on the board", "warn"],
  deleted: ["Taken off the board", "bad"],
};

const WORKTREE: Record<string, readonly [title: string, tone: Tone]> = {
  created: ["A working directory was made", "good"],
  entered: ["Works in its own directory from here on", "info"],
  kept: ["The working directory stays", "plain"],
  removed: ["The working directory is gone; its branch stays", "plain"],
  failed: ["No working directory could be made", "bad"],
};

const FIRED: Partial<Record<Event<"schedule_fired">["status"], readonly [badge: string, tone: Tone]>> = {
  delivered: ["begun", "info"],
  deferred: ["put off", "warn"],
  missed: ["missed", "bad"],
  skipped: ["skipped", "plain"],
  failed: ["failed", "bad"],
};

const RUN: Partial<Record<Event<"workflow_update">["action"], Tone>> = {
  started: "info",
  resumed: "info",
  phase: "plain",
  log: "plain",
  agent_failed: "bad",
  completed: "good",
  failed: "bad",
  cancelled: "warn",
};

const RUNTIME: Record<Event<"background_task">["status"], Tone> = {
  running: "info",
  completed: "good",
  failed: "bad",
  killed: "plain",
  stalled: "warn",
  lost: "warn",
  timeout: "warn",
};

/** Members begin and end turns all the time; told is what a person may want to know. */
const TEAM: Partial<Record<Event<"team_update">["action"], readonly [badge: string, tone: Tone]>> = {
  created: ["team made", "good"],
  joined: ["joined", "info"],
  waiting_approval: ["waits for approval", "warn"],
  stopped: ["stopped", "plain"],
  failed: ["failed", "bad"],
};

const PROJECT: Partial<Record<Event<"project_update">["action"], Tone>> = {
  advance_started: "info",
  advance_done: "good",
  advance_failed: "bad",
  needs_user: "warn",
  suggested: "info",
  done: "good",
};

export const MAIL: Record<string, string> = {
  message: "",
  broadcast: "to all",
  result: "result",
  idle_notification: "idle",
  error: "failed",
  shutdown_request: "asks to stop",
  shutdown_response: "stops",
  plan_request: "asks for a plan",
  plan_approval_request: "plan",
  plan_approval_response: "plan answered",
};

export const MAIL_TONES: Record<string, Tone> = {
  result: "good",
  error: "bad",
  plan_approval_request: "warn",
  shutdown_request: "warn",
};

export const WORK_FOLDS: Folds = {
  work_update: (thread, event) => {
    const [title, tone] = WORK[event.action];
    const by = event.person ? "by a person" : "";
    const lines = [{ text: event.subject, href: item(event.item_id, event.board) }];
    thread.tell(event, { about: "work", title, badge: by, tone, lines, text: event.reason ?? "" });
  },
  worktree_event: (thread, event) => {
    const [title, tone] = WORKTREE[event.action] ?? [event.action, "plain"];
    const text = event.branch ? `${event.name} (branch ${event.branch})` : event.name;
    const href = event.work_task_id ? item(event.work_task_id) : null;
    thread.tell(event, {
      ...{ about: "worktree", title, badge: "", tone, lines: [{ text, href }], text: event.reason ?? "" },
    });
  },
  team_message: (thread, event) => {
    if (event.message_type === "idle_notification") return thread.note(event, event.content);
    thread.tell(event, {
      ...{ about: "mail", title: `${event.sender} to ${event.recipient}`, lines: [] },
      badge: MAIL[event.message_type] ?? event.message_type,
      tone: MAIL_TONES[event.message_type] ?? "plain",
      text: event.content,
    });
  },
  team_update: (thread, event) => {
    const team = TEAM[event.action];
    if (team === undefined) return;
    const [badge, tone] = team;
    const who = [event.member, event.role].filter(Boolean).join(", ");
    thread.tell(event, {
      ...{ about: "team", title: event.team || "Team", badge, tone },
      ...{ lines: [{ text: who || "Its members and their mail", href: at("/teams", event.team_id) }] },
      text: event.reason ?? "",
    });
  },
  project_update: (thread, event) => {
    const tone = PROJECT[event.action] ?? "plain";
    const href = event.project_id ? at("/projects", event.project_id) : "/projects";
    const words = event.message || "Its steps and what came of them";
    thread.tell(event, {
      ...{
        about: "project",
        title: event.title || "Project",
        badge: event.action.replaceAll("_", " "),
        tone,
      },
      ...{ lines: [{ text: words, href }], text: "" },
    });
  },
  schedule_fired: (thread, event) => {
    const fired = FIRED[event.status];
    if (fired === undefined) return;
    const [badge, tone] = fired;
    const many = (event.count ?? 1) > 1 ? `${event.count} times, the first ` : "";
    const lines = [
      {
        text: `Due ${many}${new Date(event.occurrence).toLocaleString()}`,
        href: at("/schedules", event.schedule_id),
      },
    ];
    thread.tell(event, {
      about: "schedule",
      title: "Schedule",
      badge,
      tone,
      lines,
      text: event.reason ?? "",
    });
  },
  workflow_update: (thread, event) => {
    const tone = RUN[event.action];
    if (tone === undefined) return;
    const what = event.action === "phase" ? event.phase : event.message || event.label;
    thread.tell(event, {
      ...{ about: "workflow", title: event.workflow, badge: event.action.replace("_", " "), tone },
      ...{
        lines: [{ text: what || "Its agents and phases", href: at("/work/workflows", event.run_id) }],
        text: "",
      },
    });
  },
  background_task: (thread, event) => {
    const waits = event.status === "stalled";
    thread.tell(event, {
      ...{ about: "background", title: "In the background", tone: RUNTIME[event.status] },
      badge: waits ? "waits for an answer" : event.status,
      lines: [
        { text: event.description ?? event.runtime_task_id, href: at("/running", event.runtime_task_id) },
      ],
      text: waits ? (event.summary ?? "") : "",
    });
  },
};
