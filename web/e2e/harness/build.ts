// The console as it stands, built once into a folder of this run and served from there by every engine; ASTER_CONSOLE_DIR
// names a build that is there already.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    consoleDir: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.ASTER_CONSOLE_DIR;
  if (given) {
    project.provide("consoleDir", given);
    return async () => undefined;
  }
  const { build } = await import("vite");
  const outDir = await mkdtemp(join(tmpdir(), "aster-console-"));
  const root = join(import.meta.dirname, "../../console");
  await build({ root, mode: "production", build: { outDir, emptyOutDir: true }, logLevel: "warn" });
  project.provide("consoleDir", outDir);
  return () => rm(outDir, { recursive: true, force: true });
}
