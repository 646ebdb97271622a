// Requests to one engine. The key is asked for when there is none or it was refused, once for all who wait, and sent to
// this engine only.

import { type EngineError, refusal, unreachable } from "./errors.ts";

export interface Options {
  /** Where the engine is; default: the page's own origin. */
  baseUrl?: string | URL;
  key?: string | null;
  /** Gives a key; the sentence says why the last one was refused, null if there was none. */
  askKey?: (sentence: string | null) => Promise<string>;
  fetch?: typeof globalThis.fetch;
}

export type Query = Record<string, string | number | boolean | null | undefined>;

export interface Call {
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A connected server's login may be refused too; another key to the engine would not help there. */
const KEY_REFUSED = new Set(["INVALID_KEY", "KEY_ROTATION_PENDING"]);

export class Transport {
  readonly #base: URL;
  readonly #fetch: typeof globalThis.fetch;
  readonly #askKey: Options["askKey"];
  #key: string | null;
  #asking: Promise<string> | null = null;

  constructor(options: Options = {}) {
    this.#base = new URL(options.baseUrl ?? globalThis.location.origin);
    if (!this.#base.pathname.endsWith("/")) this.#base.pathname += "/";
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.#askKey = options.askKey;
    this.#key = options.key ?? null;
  }

  get key(): string | null {
    return this.#key;
  }

  async json<T>(method: string, path: string, call: Call = {}): Promise<T> {
    const response = await this.open(method, path, call);
    return (response.status === 204 ? null : await response.json()) as T;
  }

  /** The response once the engine has accepted the request. */
  async open(method: string, path: string, call: Call = {}): Promise<Response> {
    for (;;) {
      const used = this.#key;
      const response = await this.#send(method, path, call);
      if (response.ok) return response;
      const error = await refusal(response);
      if (!KEY_REFUSED.has(error.code) || this.#askKey === undefined) throw error;
      if (used === this.#key) await this.#newKey(used ? error.message : null);
    }
  }

  async #send(
    method: string,
    path: string,
    { query = {}, body, headers = {}, signal }: Call,
  ): Promise<Response> {
    const url = new URL(path.replace(/^\//, ""), this.#base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    const sent = new Headers(headers);
    if (this.#key) sent.set("X-Engine-Key", this.#key);
    const form = body instanceof FormData;
    if (body !== undefined && !form) sent.set("Content-Type", "application/json");
    try {
      return await this.#fetch(url, {
        method,
        headers: sent,
        body: body === undefined ? null : form ? body : JSON.stringify(body),
        signal: signal ?? null,
        cache: "no-store",
        credentials: "omit",
      });
    } catch (error) {
      if (error instanceof Error && error.name === "AbortError") throw error;
      throw unreachable();
    }
  }

  async #newKey(sentence: string | null): Promise<void> {
    const ask = this.#askKey as (sentence: string | null) => Promise<string>;
    this.#asking ??= ask(sentence).finally(() => {
      this.#asking = null;
    });
    this.#key = await this.#asking;
  }
}

export type { EngineError };
