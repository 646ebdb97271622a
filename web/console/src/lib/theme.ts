// Light, dark, or what the system says. The choice is this browser's.

import { effect, signal } from "@preact/signals";
import { recall, remember } from "./storage.ts";

export type Theme = "system" | "light" | "dark";

const system = globalThis.matchMedia("(prefers-color-scheme: dark)");
const dark = signal(system.matches);

export const theme = signal<Theme>(recall("theme", "system") as Theme);

export function followTheme(): void {
  system.addEventListener("change", (event) => {
    dark.value = event.matches;
  });
  effect(() => {
    const shown = theme.value === "system" ? (dark.value ? "dark" : "light") : theme.value;
    document.documentElement.dataset.theme = shown;
    remember("theme", theme.value);
  });
}
