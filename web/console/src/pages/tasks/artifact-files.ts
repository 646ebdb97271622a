// The contents of an artifact. They come with the key, so a plain link cannot fetch them; and they are shown as text or a
// picture and nothing else, whatever they say they are.

import type { wire } from "@aster/client";
import { engine } from "../../lib/engine.ts";

type Artifact = Pick<wire.ArtifactEntry, "artifact_id" | "name" | "media_type" | "size">;
export type Seen = { kind: "text"; text: string } | { kind: "picture"; src: string } | { kind: "other" };

const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** Long enough for a browser to begin with a download. */
const SAVED_MS = 60_000;
const MOST_BYTES = 20_000_000;

export const artifactsPath = (taskId: string): string => `/tasks/${encodeURIComponent(taskId)}/artifacts`;

async function contents(taskId: string, artifact: Artifact): Promise<Blob> {
  const path = `${artifactsPath(taskId)}/${encodeURIComponent(artifact.artifact_id)}`;
  return (await engine.transport.open("GET", path)).blob();
}

export async function save(taskId: string, artifact: Artifact): Promise<void> {
  const url = URL.createObjectURL(await contents(taskId, artifact));
  const link = Object.assign(document.createElement("a"), { href: url, download: artifact.name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), SAVED_MS);
}

export async function look(taskId: string, artifact: Artifact): Promise<Seen> {
  if (artifact.size > MOST_BYTES) return { kind: "other" };
  const blob = await contents(taskId, artifact);
  if (PICTURES.has(artifact.media_type)) {
    return { kind: "picture", src: await dataUrl(new Blob([blob], { type: artifact.media_type })) };
  }
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(await blob.arrayBuffer()) };
  } catch {
    return { kind: "other" };
  }
}

function dataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
