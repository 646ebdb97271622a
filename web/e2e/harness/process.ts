// A child process that says on its output when it is ready, and is gone when the test is.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");
const OWN = join(ROOT, ".venv/bin/python");
export const PYTHON = process.env.ASTER_PYTHON ?? (existsSync(OWN) ? OWN : "python3");

export class Child {
  output = "";
  readonly #process: ChildProcess;

  /** Starts Python with these arguments, in this folder and with nothing of our environment but what it needs. */
  constructor(args: string[], cwd: string, env: Record<string, string>) {
    const { PATH = "", PYTHONPATH } = process.env;
    this.#process = spawn(PYTHON, args, {
      cwd,
      env: { PATH, HOME: cwd, ...(PYTHONPATH && { PYTHONPATH }), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output = (this.output + text).slice(-100_000);
      });
    }
  }

  get alive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Waits until a condition holds; fails with what was said when the process ends first. */
  async until<T>(found: () => T | Promise<T>, what: string, withinMs = 60_000): Promise<NonNullable<T>> {
    const deadline = Date.now() + withinMs;
    while (this.alive && Date.now() < deadline) {
      const value = await found();
      if (value) return value;
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`${what}\n${this.output}`);
  }

  /** Tell it something that does not end it. */
  tell(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (!this.alive) return;
    const gone = once(this.#process, "exit");
    this.#process.kill(signal);
    await gone;
  }
}
