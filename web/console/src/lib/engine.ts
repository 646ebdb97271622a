// The one engine this page belongs to, and the key to it. The key is asked for when there is none or it was refused.

import { AsterClient } from "@aster/client";
import { signal } from "@preact/signals";
import { forget, recall, remember } from "./storage.ts";

interface Asking {
  sentence: string | null;
  give: (key: string) => void;
}

/** Set while somebody has to give a key. */
export const asking = signal<Asking | null>(null);

function askKey(sentence: string | null): Promise<string> {
  return new Promise((resolve) => {
    asking.value = {
      sentence,
      give(key) {
        remember("key", key);
        asking.value = null;
        resolve(key);
      },
    };
  });
}

export const engine = new AsterClient({ key: recall("key", "") || null, askKey });

export function leave(): void {
  forget("key");
  globalThis.location.reload();
}
