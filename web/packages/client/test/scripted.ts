// An engine of a few lines, over real HTTP: every request is answered as the test says, and remembered.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export type Answer = (response: ServerResponse, seen: Seen) => void;

export class Scripted {
  readonly seen: Seen[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #answers: Answer[] = [];

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** One answer for each request that comes, in order. */
  async start(...answers: Answer[]): Promise<this> {
    this.#answers = answers;
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    const { method = "", url = "", headers } = request;
    const seen = { method, path: url, headers, body };
    this.seen.push(seen);
    const answer = this.#answers.shift();
    if (answer) answer(response, seen);
    else response.writeHead(500).end();
  }
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
  };

export type Told = { seq: number; type: string } & Record<string, unknown>;

const frame = (event: Told) => {
  const data = JSON.stringify({
    task_id: "t1",
    turn_id: "u1",
    timestamp: "2026-01-01T00:00:00.000Z",
    ...event,
  });
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${data}\n\n`;
};

/** A stream of these events; then it ends, or breaks in the middle of another frame. */
export const stream =
  (events: Told[], then: "end" | "break" = "end"): Answer =>
  (response) => {
    response.writeHead(200, {
      "Content-Type": "text/event-stream",
      "X-Task-ID": "t1",
      "X-Turn-ID": "u1",
      "X-Message-ID": "m1",
    });
    response.write(events.map(frame).join(""));
    if (then === "end") response.end();
    else response.write('id: 99\nevent: text_delta\ndata: {"se', () => response.destroy());
  };

export const delta = (seq: number, text: string): Told => ({
  type: "text_delta",
  seq,
  text,
  step: 1,
  block_index: 0,
});
export const over = (seq: number): Told => ({ type: "thread_lifecycle", seq, phase: "completed" });
