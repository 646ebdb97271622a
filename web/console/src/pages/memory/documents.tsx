// Long texts that are kept in parts: which there are, putting one in, forgetting one.

import { Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { usePaged } from "../../lib/paged.ts";
import { ago, plural, short } from "../../lib/words.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { AddDocument } from "./add-document.tsx";
import entries from "./entry.module.css";
import { ForgetDialog } from "./forget.tsx";
import lists from "./list.module.css";
import { memory } from "./memory.ts";

export function Documents() {
  const kept = usePaged(async (before) => {
    const page = await memory.documents(before);
    return { items: page.documents, next: page.next };
  }, []);
  const [adding, setAdding] = useState(false);
  const [doomed, setDoomed] = useState<string | null>(null);
  function done() {
    setAdding(false);
    setDoomed(null);
    kept.again();
  }
  return (
    <div class={lists.stack}>
      <div class={lists.row}>
        <span class={lists.faint}>Long texts are kept in parts that are found one by one.</span>
        <Button onClick={() => setAdding(true)}>Add a document</Button>
      </div>
      {kept.error ? <Problem error={kept.error} again={kept.again} /> : null}
      {kept.items === null && !kept.error ? <Loading /> : null}
      {kept.items?.length === 0 ? <Empty title="No documents yet" /> : null}
      {kept.items?.length ? (
        <ul class={lists.list} aria-label="Documents">
          {kept.items.map((one) => (
            <li key={one.document} class={entries.entry}>
              <div class={entries.said}>
                <strong class={lists.plain}>{one.title || one.document}</strong>
                <p class={entries.about}>
                  {one.title ? <code>{one.document}</code> : null}
                  <span>{plural(one.parts, "part")}</span>
                  <span>{short(one.characters)} characters</span>
                  <span>{ago(one.created_at)}</span>
                  {one.task_id ? <Link href={taskOf(one.task_id)}>{one.task_id}</Link> : null}
                </p>
              </div>
              <IconButton size="s" label={`Forget ${one.document}`} onClick={() => setDoomed(one.document)}>
                <Trash2 size={14} />
              </IconButton>
            </li>
          ))}
        </ul>
      ) : null}
      {kept.more ? (
        <Button class={lists.center} disabled={kept.loading} onClick={kept.more}>
          Show more
        </Button>
      ) : null}
      {adding ? <AddDocument onDone={done} onLeave={() => setAdding(false)} /> : null}
      {doomed ? (
        <ForgetDialog what={{ documents: [doomed] }} onDone={done} onLeave={() => setDoomed(null)} />
      ) : null}
    </div>
  );
}
