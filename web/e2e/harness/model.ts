// The scripted model: it speaks a provider's protocol over loopback and says exactly what a test told it to.

import { Child } from "./process.ts";

export type Part =
  | { type: "text" | "thinking"; text: string }
  | { type: "tool_call"; name: string; input?: unknown; id?: string }
  | { type: "hold"; name: string };

export interface Reply {
  type: "reply";
  parts: Part[];
  rate?: number;
  chunk?: number | "word" | "all";
  usage?: { input: number; output: number; cache_read?: number };
}

export interface Rule {
  reply: Reply | { type: "failure"; status: number };
  match?: string;
  round?: number;
  tool?: string;
  system?: string;
  times?: number;
}

export const text = (words: string): Part => ({ type: "text", text: words });
export const thinking = (words: string): Part => ({ type: "thinking", text: words });
export const call = (name: string, input: unknown): Part => ({ type: "tool_call", name, input });
export const hold = (name: string): Part => ({ type: "hold", name });
export const reply = (parts: Part[], how: Partial<Reply> = {}): Reply => ({ type: "reply", parts, ...how });

/** First these parts, then, when the tools they call have answered, those, and so on; for messages that fit `match`. */
export function rounds(match: string, ...said: Part[][]): Rule[] {
  let results = 0;
  return said.map((parts) => {
    const rule = { match, round: results, reply: reply(parts) };
    results += parts.filter((part) => part.type === "tool_call").length;
    return rule;
  });
}

export class Model {
  private constructor(
    readonly url: string,
    readonly child: Child,
  ) {}

  static async start(folder: string): Promise<Model> {
    const child = new Child(["-m", "aster.testing"], folder, {});
    const line = await child.until(() => /\{.*"url".*\}/.exec(child.output)?.[0], "The model did not start.");
    return new Model((JSON.parse(line) as { url: string }).url, child);
  }

  /** From now on these rules decide; a message no rule fits follows its `[[directive]]`. */
  async script(rules: Rule[], queue: Reply[] = []): Promise<void> {
    await this.#post("/_script", { rules, queue });
  }

  async release(name: string): Promise<void> {
    await this.#post(`/_release?name=${encodeURIComponent(name)}`, {});
  }

  async calls(): Promise<unknown[]> {
    return (await (await fetch(`${this.url}/_calls`)).json()) as unknown[];
  }

  async #post(path: string, body: unknown): Promise<void> {
    const answer = await fetch(this.url + path, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
  }
}
