// Server-sent events from text. However the network cuts the stream, the same frames come out; a frame the stream
// ends in is not one. Lines end at CR, LF or CRLF and at nothing else.

export class SseParser {
  #rest = "";
  #swallowLf = false;
  #id = "";
  #event = "";
  #data = [];

  /** Takes what arrived; returns the frames that are whole by now: `{event, data, id}`. */
  push(text) {
    if (this.#swallowLf && text) {
      this.#swallowLf = false;
      if (text[0] === "\n") text = text.slice(1);
    }
    const lines = (this.#rest + text).split(/\r\n|\r|\n/);
    this.#swallowLf = text.endsWith("\r") || (this.#swallowLf && !text);
    this.#rest = lines.pop();
    return lines.map((line) => this.#line(line)).filter(Boolean);
  }

  #line(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return null;
  }

  #dispatch() {
    const frame = { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id };
    const empty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    return empty ? null : frame;
  }
}

/** The connection broke; the same request may well succeed in a moment. */
export class Lost extends Error {
  passing = true;
  retryAfterMs = 0;
}

/** The events of a response body, until it ends, the signal is raised, or nothing comes for `silenceMs`. */
export async function* events(body, { signal, silenceMs }) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new SseParser();
  const leave = () => reader.cancel().catch(() => {});
  signal.addEventListener("abort", leave);
  try {
    while (!signal.aborted) {
      const { done, value } = await within(silenceMs, reader.read());
      if (done) return;
      for (const frame of parser.push(decoder.decode(value, { stream: true }))) yield JSON.parse(frame.data);
    }
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}

/** Heartbeats come while nothing else does; without them the connection is dead, whatever the network says. */
function within(ms, promise) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Lost("The connection went silent.")), ms);
  });
  const said = promise.catch(() => Promise.reject(new Lost("The connection broke.")));
  return Promise.race([said, silence]).finally(() => clearTimeout(timer));
}
