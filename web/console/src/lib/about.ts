// What the engine runs with and who we are to it, asked for once for all pages.

import type { wire } from "@aster/client";
import { engine } from "./engine.ts";

let known: Promise<wire.About> | null = null;

export function about(): Promise<wire.About> {
  known ??= engine.get<wire.About>("/about").catch((error: unknown) => {
    known = null;
    throw error;
  });
  return known;
}
