// Server-sent events from text. However the network cuts the stream, the same frames come out; a frame the stream ends
// in is not one. Lines end at CR, LF or CRLF and at nothing else.

import { lost } from "./errors.ts";

export interface SseFrame {
  event: string;
  data: string;
  id: string;
}

export class SseParser {
  #rest = "";
  #swallowLf = false;
  #first = true;
  #id = "";
  #event = "";
  #data: string[] = [];

  /** Takes what arrived; returns the frames that are whole by now. */
  push(arrived: string): SseFrame[] {
    let text = arrived;
    if (this.#first && text) {
      this.#first = false;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    if (this.#swallowLf && text) {
      this.#swallowLf = false;
      if (text.startsWith("\n")) text = text.slice(1);
    }
    const lines = (this.#rest + text).split(/\r\n|\r|\n/);
    this.#swallowLf = text.endsWith("\r") || (this.#swallowLf && !text);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): SseFrame[] {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return [];
  }

  #dispatch(): SseFrame[] {
    const data = this.#data;
    const frame = { event: this.#event || "message", data: data.join("\n"), id: this.#id };
    this.#event = "";
    this.#data = [];
    return data.length === 0 ? [] : [frame];
  }
}

/** The frames of a response body, until it ends, the signal is raised, or nothing comes for `silenceMs`. */
export async function* frames(
  body: ReadableStream<Uint8Array>,
  { signal, silenceMs }: { signal: AbortSignal; silenceMs: number },
): AsyncGenerator<SseFrame, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parser = new SseParser();
  const leave = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", leave);
  try {
    while (!signal.aborted) {
      const { done, value } = await within(silenceMs, reader.read());
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}

/** Heartbeats come while nothing else does; without them the connection is dead, whatever the network says. */
function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(lost("The connection went silent.")), ms);
  });
  const said = promise.catch(() => Promise.reject(lost("The connection broke.")));
  return Promise.race([said, silence]).finally(() => clearTimeout(timer));
}
