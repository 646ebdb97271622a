// The engine over HTTP. Every refusal becomes an EngineError with the engine's own sentence; a network that fails
// becomes one too, with the code UNREACHABLE. The key stays in this tab and is sent to this origin only.

const BASE = new URL("../", import.meta.url);
const KEY = "aster-key";

export class EngineError extends Error {
  constructor(code, message, { status = 0, retryAfter = 0 } = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterMs = retryAfter * 1000;
  }

  /** Whether the same request may well succeed in a moment. */
  get passing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export class Api {
  #askKey;
  #asking = null;
  #key = recall();

  /** `askKey(sentence)` resolves to a key; the sentence says why the last one was refused, null if there was none. */
  constructor(askKey) {
    this.#askKey = askKey;
  }

  async get(path, query = {}) {
    return (await this.open("GET", path, { query })).json();
  }

  async post(path, body) {
    return (await this.open("POST", path, { body })).json();
  }

  /** The response once the engine has accepted the request; asks for the key as often as it is refused. */
  async open(method, path, request = {}) {
    for (;;) {
      const used = this.#key;
      const response = await this.#send(method, path, request);
      if (response.ok) return response;
      const error = await refusal(response);
      if (error.status !== 401) throw error;
      if (used === this.#key) await this.#newKey(used ? error.message : null);
    }
  }

  async #send(method, path, { query = {}, body, headers = {}, signal }) {
    const url = new URL(path.replace(/^\//, ""), BASE);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const all = { ...headers };
    if (this.#key) all["X-Engine-Key"] = this.#key;
    if (body !== undefined) all["Content-Type"] = "application/json";
    try {
      return await fetch(url, {
        method,
        headers: all,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
        cache: "no-store",
        credentials: "omit",
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new EngineError("UNREACHABLE", "The engine cannot be reached.");
    }
  }

  async #newKey(sentence) {
    this.#asking ??= this.#askKey(sentence).finally(() => (this.#asking = null));
    this.#key = await this.#asking;
    remember(this.#key);
  }
}

async function refusal(response) {
  const facts = { status: response.status, retryAfter: Number(response.headers.get("Retry-After")) || 0 };
  try {
    const body = await response.json();
    return new EngineError(String(body.error), String(body.message), facts);
  } catch {
    return new EngineError("UNKNOWN", `The engine answered ${response.status} without a reason.`, facts);
  }
}

// A browser may forbid storage; then the key lasts as long as the page.
function recall() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(key) {
  try {
    sessionStorage.setItem(KEY, key);
  } catch {
    return;
  }
}
