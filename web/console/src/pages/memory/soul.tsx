// The soul: who the agent is for this person, the editor that makes a new version of it, and every version with what
// changed in it.

import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { useLoaded } from "../../lib/loaded.ts";
import { ago, exactly } from "../../lib/words.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Loading, Problem } from "../../ui/page.tsx";
import { Diff } from "../chat/diff.tsx";
import lists from "./list.module.css";
import { type Kept, memory } from "./memory.ts";
import css from "./soul.module.css";
import { SoulEditor } from "./soul-editor.tsx";

const BEGINNING = "core";

export function Soul() {
  const soul = useLoaded(memory.soul, []);
  const [editing, setEditing] = useState(false);
  if (soul.error) return <Problem error={soul.error} again={soul.again} />;
  if (soul.value === null) return <Loading />;
  return (
    <div class={lists.stack}>
      <Card
        title="Who the agent is for you"
        actions={editing ? null : <Button onClick={() => setEditing(true)}>Change</Button>}
      >
        {editing ? (
          <SoulEditor
            soul={soul.value}
            onLeave={() => setEditing(false)}
            onDone={() => {
              setEditing(false);
              soul.again();
            }}
          />
        ) : (
          <Now soul={soul.value} />
        )}
      </Card>
      <Versions versions={soul.value.versions as Kept[]} />
    </div>
  );
}

function Now({ soul }: { soul: wire.SoulFull }) {
  return (
    <div class={css.soul}>
      <p class={css.identity}>{soul.identity}</p>
      <Lines title="Values" lines={soul.values} />
      <Lines title="Patterns" lines={soul.patterns} />
      {soul.voice ? <Lines title="Voice" lines={[soul.voice]} /> : null}
    </div>
  );
}

function Lines({ title, lines }: { title: string; lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class={css.lines}>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  );
}

function Versions({ versions }: { versions: Kept[] }) {
  return (
    <Card title="History">
      <ol class={css.versions}>
        {versions.map((one, at) => {
          const before = versions[at + 1];
          return (
            <li key={one.id}>
              <details>
                <summary>
                  <strong>Version {String(one.version)}</strong>{" "}
                  {one.receipt.extractor === BEGINNING ? (
                    <span class={lists.faint}>as it began</span>
                  ) : (
                    <span class={lists.faint} title={exactly(one.receipt.created_at)}>
                      {ago(one.receipt.created_at)}, by {one.receipt.extractor}
                    </span>
                  )}
                </summary>
                {before ? (
                  <Diff
                    change={{ path: "What changed", edits: [{ before: before.text, after: one.text }] }}
                  />
                ) : (
                  <p class={css.whole}>{one.text}</p>
                )}
              </details>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
