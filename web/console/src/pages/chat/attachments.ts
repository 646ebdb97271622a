// Files that go with a message, as the engine takes them.

import type { wire } from "@aster/client";
import { bytes } from "../../lib/words.ts";

export interface Attachment {
  id: number;
  name: string;
  size: number;
  /** Where a picture can be looked at before it is sent; nothing for other files. */
  preview: string | null;
  part: NonNullable<wire.ExecuteBody["media"]>[number];
}

const MOST_BYTES = 20_000_000;
let made = 0;

const TEXT = /^(text\/|application\/(json|xml|x-yaml|yaml|toml|javascript|x-sh|sql))/;
/** Browsers know no type for many files of plain text. */
const TEXT_NAMES =
  /\.(md|txt|py|ts|tsx|js|jsx|rs|go|java|c|h|cpp|rb|sh|toml|ya?ml|ini|cfg|log|csv|sql|diff|patch)$/i;

export async function attached(file: File): Promise<Attachment> {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} is larger than ${bytes(MOST_BYTES)}.`);
  made += 1;
  const media_type = typeOf(file);
  const source = {
    type: "base64",
    media_type,
    data: base64(new Uint8Array(await file.arrayBuffer())),
  } as const;
  const preview = media_type.startsWith("image/") ? `data:${media_type};base64,${source.data}` : null;
  return { id: made, name: file.name || "file", size: file.size, preview, part: part(file, source) };
}

function typeOf(file: File): string {
  const known = file.type.split(";")[0] ?? "";
  if (TEXT.test(known) || TEXT_NAMES.test(file.name)) return "text/plain";
  return known || "application/octet-stream";
}

function part(file: File, source: { type: "base64"; media_type: string; data: string }): Attachment["part"] {
  const kind = source.media_type.split("/")[0];
  if (kind === "image" || kind === "audio" || kind === "video") return { type: kind, source };
  return { type: "document", source, title: file.name };
}

function base64(content: Uint8Array): string {
  let text = "";
  for (let at = 0; at < content.length; at += 0x8000) {
    text += String.fromCharCode(...content.subarray(at, at + 0x8000));
  }
  return btoa(text);
}
