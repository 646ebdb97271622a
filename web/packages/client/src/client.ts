// The engine as a TypeScript program sees it. Every call is one route; `execute` is a turn from the message to its end,
// over as many connections as that takes.

import { type AsterEvent, type Connection, follow } from "./events.ts";
import { type Options, type Query, Transport } from "./transport.ts";
import type * as wire from "./wire.ts";

export interface Execute extends Omit<wire.ExecuteBody, "message"> {
  message: string;
}

/** A turn that was accepted: its ids are known at once, its events come as they are written. */
export interface Turn extends AsyncIterable<AsterEvent> {
  readonly taskId: string;
  readonly turnId: string;
  readonly messageId: string;
}

export interface Watching {
  signal?: AbortSignal;
  onConnection?: (state: Connection) => void;
  /** Answers what the turn asks a person; without it the turn stays suspended, and the loop goes on waiting. */
  onRequest?: (request: wire.HitlRequest) => Promise<wire.RespondBody | null>;
}

const path = (strings: TemplateStringsArray, ...values: string[]) =>
  String.raw({ raw: strings }, ...values.map(encodeURIComponent));

export class AsterClient {
  readonly transport: Transport;

  constructor(options: Options | Transport = {}) {
    this.transport = options instanceof Transport ? options : new Transport(options);
  }

  /** Hand over a message; resolves when the engine has taken it, rejects with its refusal. */
  async execute(body: Execute, watching: Watching = {}): Promise<Turn> {
    const { signal } = watching;
    const response = await this.transport.open("POST", "/execute", { body, ...(signal && { signal }) });
    const id = (name: string) => decodeURIComponent(response.headers.get(name) ?? "");
    const [taskId, turnId, messageId] = [id("X-Task-ID"), id("X-Turn-ID"), id("X-Message-ID")];
    return {
      taskId,
      turnId,
      messageId,
      [Symbol.asyncIterator]: () => this.#turn(taskId, turnId, response, watching),
    };
  }

  async *#turn(
    taskId: string,
    turnId: string,
    response: Response,
    { onRequest, ...following }: Watching,
  ): AsyncGenerator<AsterEvent, void> {
    for await (const event of follow(this.transport, taskId, 0, turnId, { ...following, response })) {
      yield event;
      if (event.type !== "hitl_request" || onRequest === undefined) continue;
      const answer = await onRequest(event);
      if (answer !== null) await this.respond(answer);
    }
  }

  /** Watch a task from a place on, until it is left by `break` or the signal. */
  watch(
    taskId: string,
    afterSeq = 0,
    watching: Omit<Watching, "onRequest"> = {},
  ): AsyncGenerator<AsterEvent, void> {
    return follow(this.transport, taskId, afterSeq, null, watching);
  }

  /** Watch what learning does from a place on, also before it has ever begun. */
  learning(afterSeq = 0, watching: Omit<Watching, "onRequest"> = {}): AsyncGenerator<AsterEvent, void> {
    return follow(this.transport, "", afterSeq, null, {
      ...watching,
      source: (from, signal) =>
        this.transport.open("GET", "/learning/events", {
          ...{ headers: { "Last-Event-ID": String(from) }, signal },
        }),
    });
  }

  get<T>(route: string, query: Query = {}): Promise<T> {
    return this.transport.json<T>("GET", route, { query });
  }

  post<T>(route: string, body: unknown = {}): Promise<T> {
    return this.transport.json<T>("POST", route, { body });
  }

  health = () => this.get<wire.Health>("/health");
  tasks = (query: Query = {}) => this.get<wire.TaskPage>("/tasks", query);
  task = (id: string) => this.get<wire.TaskDetail>(path`/tasks/${id}`);
  events = (id: string, query: Query = {}) => this.get<wire.EventsPage>(path`/tasks/${id}/events`, query);
  rename = (id: string, title: string) =>
    this.transport.json<wire.Task>("PATCH", path`/tasks/${id}`, { body: { title } });
  remove = (id: string) => this.transport.json<wire.DeletedTask>("DELETE", path`/tasks/${id}`);
  fork = (id: string, body: wire.ForkBody) => this.post<wire.ForkAnswer>(path`/tasks/${id}/fork`, body);
  cancel = (body: wire.CancelBody) => this.post<wire.CancelAnswer>("/execute/cancel", body);
  pending = (query: Query = {}) => this.get<wire.PendingList>("/hitl/pending", query);
  respond = (body: wire.RespondBody) => this.post<wire.Resumed>("/hitl/respond", body);
}
