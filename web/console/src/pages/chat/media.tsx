// What is attached to a message. Only what came with it is shown; an address elsewhere is a link.

import { FileText, Music, Video } from "lucide-preact";
import { safeHref } from "../../lib/safe.ts";
import type { Media } from "../../thread/items.ts";
import css from "./media.module.css";
import { Picture } from "./picture.tsx";

const ICONS = { document: FileText, audio: Music, video: Video };

export function MediaView({ block }: { block: Media }) {
  const { source } = block;
  if (source.type !== "base64") {
    const href = safeHref(source.url);
    if (href === null) return <span class={css.file}>{source.url}</span>;
    return (
      <a class={css.file} href={href} target="_blank" rel="noopener noreferrer">
        {source.url}
      </a>
    );
  }
  if (block.type === "image") {
    return <Picture name="Attached" src={`data:${source.media_type};base64,${source.data}`} />;
  }
  const Icon = ICONS[block.type];
  const name = block.type === "document" && block.title ? block.title : source.media_type;
  return (
    <span class={css.file}>
      <Icon size={15} aria-hidden="true" /> {name}
    </span>
  );
}
