// Whether the build that is kept beside the engine is what the sources here make: every file, byte by byte.

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { build } from "vite";

const root = join(import.meta.dirname, "../console");
const kept = join(import.meta.dirname, "../../src/aster/server/console/app");

async function contents(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const pairs = files.map(async (file) => [relative(folder, file), await readFile(file, "base64")]);
  return new Map(await Promise.all(pairs));
}

const outDir = await mkdtemp(join(tmpdir(), "aster-console-"));
try {
  await build({ root, mode: "production", build: { outDir, emptyOutDir: true }, logLevel: "warn" });
  const [made, old] = await Promise.all([contents(outDir), contents(kept)]);
  const differ = [...new Set([...made.keys(), ...old.keys()])].filter(
    (name) => made.get(name) !== old.get(name),
  );
  if (differ.length > 0) {
    console.error(
      `The console that comes with the engine is not what web/ makes: ${differ.sort().join(", ")}`,
    );
    console.error("Build it again with: make console-build");
    process.exitCode = 1;
  }
} finally {
  await rm(outDir, { recursive: true, force: true });
}
