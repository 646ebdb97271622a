// The client as others get it: built, and the example of its README run by plain Node against a real engine.

import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { call, rounds, text } from "./harness/model.ts";
import { expect, test } from "./harness/test.ts";

const run = promisify(execFile);
const WEB = join(import.meta.dirname, "..");
const CLIENT = join(WEB, "packages/client");

test("the example of the README runs", async ({ engine, folder, model }) => {
  await model.script(
    rounds(
      "Which files",
      [call("bash", { command: "chmod -R 700 . && echo notes.md" })],
      [text("Only notes.md.")],
    ),
  );
  const place = join(folder, "somewhere/node_modules/@aster/client");
  await mkdir(place, { recursive: true });
  await symlink(join(WEB, "node_modules"), join(folder, "node_modules"));
  const base = join(CLIENT, "tsconfig.build.json");
  await run(process.execPath, [
    join(WEB, "node_modules/typescript/bin/tsc"),
    "-p",
    base,
    "--outDir",
    join(place, "dist"),
  ]);
  await cp(join(CLIENT, "package.json"), join(place, "package.json"));
  const readme = await readFile(join(CLIENT, "README.md"), "utf8");
  const example = /```ts\n([\s\S]+?)```/.exec(readme)?.[1] ?? "";
  const program = join(dirname(dirname(dirname(place))), "example.mjs");
  await writeFile(program, example.replace("http://127.0.0.1:8000", engine.url));
  const { stdout } = await run(process.execPath, [program], { env: { ASTER_KEY: engine.key } });
  expect(stdout).toContain("[bash]");
  expect(stdout).toContain("Only notes.md.");
  expect(stdout).toMatch(/chmod/);
});
