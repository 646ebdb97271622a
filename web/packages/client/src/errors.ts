// What can go wrong between a client and an engine. A refusal carries the engine's own code and sentence; a network that
// fails becomes one of them too, with the code UNREACHABLE, so that there is one thing to catch.

export interface Facts {
  status?: number;
  retryAfterMs?: number;
  details?: Record<string, unknown>;
}

export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly status: number;
  readonly retryAfterMs: number;
  readonly details: Record<string, unknown>;

  constructor(
    readonly code: string,
    message: string,
    { status = 0, retryAfterMs = 0, details = {} }: Facts = {},
  ) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.details = details;
  }

  /** Whether the same request may well succeed in a moment. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export function unreachable(): EngineError {
  return new EngineError("UNREACHABLE", "The engine cannot be reached.");
}

export function lost(sentence: string): EngineError {
  return new EngineError("CONNECTION_LOST", sentence);
}

/** What an engine that did not accept a request had to say. */
export async function refusal(response: Response): Promise<EngineError> {
  const facts: Facts = {
    status: response.status,
    retryAfterMs: 1000 * (Number(response.headers.get("Retry-After")) || 0),
  };
  try {
    const body = (await response.json()) as {
      error: string;
      message: string;
      details?: Record<string, unknown>;
    };
    return new EngineError(body.error, body.message, {
      ...facts,
      ...(body.details && { details: body.details }),
    });
  } catch {
    return new EngineError("UNKNOWN", `The engine answered ${response.status} without a reason.`, facts);
  }
}
