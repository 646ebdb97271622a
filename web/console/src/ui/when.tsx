import { ago, exactly } from "../lib/words.ts";

/** How long ago, or how far ahead; the exact time on hover. */
export function When({ iso }: { iso: string }) {
  return (
    <time dateTime={iso} title={exactly(iso)}>
      {ago(iso)}
    </time>
  );
}
