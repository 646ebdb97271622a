import { FileText, X } from "lucide-preact";
import { bytes } from "../../lib/words.ts";
import { IconButton } from "../../ui/button.tsx";
import type { Attachment } from "./attachments.ts";
import css from "./composer.module.css";

/** The files that go with the message that is being written. */
export function Enclosed({ media, remove }: { media: Attachment[]; remove: (one: Attachment) => void }) {
  if (media.length === 0) return null;
  return (
    <ul class={css.media} aria-label="Attached">
      {media.map((one) => (
        <li key={one.id}>
          {one.preview ? <img src={one.preview} alt="" /> : <FileText size={15} aria-hidden="true" />}
          <span class={css.name}>{one.name}</span>
          <span class={css.size}>{bytes(one.size)}</span>
          <IconButton size="s" label={`Remove ${one.name}`} onClick={() => remove(one)}>
            <X size={12} />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
