// What learning told lately, the newest first.

import { Link } from "wouter-preact";
import { When } from "../../ui/when.tsx";
import css from "./activity.module.css";
import { changesetOf, trialOf } from "./learning.ts";
import type { Note } from "./progress.ts";

const SHOWN = 12;

export function Activity({ notes }: { notes: readonly Note[] }) {
  return (
    <ol class={css.notes} aria-label="Activity">
      {notes.slice(0, SHOWN).map((note) => (
        <li key={note.seq} class={css[note.phase]}>
          <span class={css.text}>
            {note.text || note.phase} <Where note={note} />
          </span>
          <When iso={note.timestamp} />
        </li>
      ))}
    </ol>
  );
}

function Where({ note }: { note: Note }) {
  if (note.trial_id) return <Link href={trialOf(note.trial_id)}>the trial</Link>;
  if (note.changeset_id) return <Link href={changesetOf(note.changeset_id)}>what changed</Link>;
  return null;
}
