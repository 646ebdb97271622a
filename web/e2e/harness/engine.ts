// A whole engine as a process: it can be killed at any moment and started again on the same brain and port.

import { mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { AsterClient } from "@aster/client";
import { Child } from "./process.ts";

export type Settings = Record<string, string>;
const KEY = "e2e-engine-key-0123456789";

export class EngineProcess {
  readonly key = KEY;
  readonly url: string;
  readonly client: AsterClient;
  #child: Child | null = null;

  private constructor(
    readonly folder: string,
    readonly port: number,
    readonly settings: Settings,
  ) {
    this.url = `http://127.0.0.1:${port}`;
    this.client = new AsterClient({ baseUrl: this.url, key: KEY });
  }

  /** Where the agent works; files put here are files it sees. */
  get workspace(): string {
    return join(this.folder, "workspace");
  }

  static async start(folder: string, settings: Settings): Promise<EngineProcess> {
    const engine = new EngineProcess(folder, await freePort(), settings);
    await mkdir(engine.workspace, { recursive: true });
    await engine.restart();
    return engine;
  }

  /** Start, or start again, with the same brain; resolves when requests are answered. */
  async restart(): Promise<void> {
    const child = new Child(["-m", "aster.cli", "serve"], this.folder, {
      PORT: String(this.port),
      ENGINE_API_KEY: KEY,
      SQLITE_DB_PATH: join(this.folder, "brain.sqlite"),
      ALLOWED_ROOTS: this.workspace,
      SANDBOX: "off",
      EMBEDDINGS_PROVIDER: "off",
      MEMORY_ENABLED: "false",
      TASK_TITLES: "false",
      TIME_ZONE: "off",
      DRAIN_SECONDS: "0",
      ...this.settings,
    });
    this.#child = child;
    await child.until(() => this.#answers(), "The engine did not start.");
  }

  /** The process is gone at once, as in a power cut. */
  async kill(): Promise<void> {
    await this.#child?.end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#child?.end("SIGTERM");
  }

  get output(): string {
    return this.#child?.output ?? "";
  }

  /** Run a turn to its end, without a browser. */
  async say(taskId: string, message: string): Promise<void> {
    for await (const _ of await this.client.execute({ task_id: taskId, message }));
  }

  async #answers(): Promise<boolean> {
    return fetch(`${this.url}/health`).then(
      () => true,
      () => false,
    );
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
