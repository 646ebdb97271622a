// Beliefs that changed: what held, and what holds in its place.

import { ArrowRight } from "lucide-preact";
import { Link } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { ago, exactly } from "../../lib/words.ts";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import css from "./changes.module.css";
import lists from "./list.module.css";
import { memory, recordOf } from "./memory.ts";

export function Changes() {
  const changes = useLoaded(memory.contradictions, []);
  if (changes.error) return <Problem error={changes.error} again={changes.again} />;
  if (changes.value === null) return <Loading />;
  const found = changes.value.contradictions;
  if (found.length === 0)
    return (
      <Empty title="Nothing contradicts anything">
        When something new takes the place of what was believed before, both are shown here.
      </Empty>
    );
  return (
    <ul class={lists.list} aria-label="Contradictions">
      {found.map((one) => (
        <li key={`${one.old_id} ${one.new_id}`} class={css.change}>
          <Link href={recordOf(one.old_id)} class={css.old}>
            <span class="visually-hidden">Before: </span>
            {one.old}
          </Link>
          <ArrowRight size={15} aria-hidden="true" />
          <Link href={recordOf(one.new_id)} class={css.new}>
            <span class="visually-hidden">Now: </span>
            {one.new}
          </Link>
          <time dateTime={one.at} title={exactly(one.at)}>
            {ago(one.at)}
          </time>
        </li>
      ))}
    </ul>
  );
}
