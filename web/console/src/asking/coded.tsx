// A sentence of the engine's with names between backticks: those are shown as code, and nothing else means anything.

import type { ComponentChildren } from "preact";

const NAME = /`([^`\n]+)`/;

export function Coded({ text }: { text: string }): ComponentChildren {
  return text.split(NAME).map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}
