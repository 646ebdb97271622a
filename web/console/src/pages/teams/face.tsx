import css from "./face.module.css";
import { toneOf } from "./talk.ts";
import type { Team } from "./teams.ts";

/** The first letters of a name in a colour of its own, so that who speaks is seen before it is read. */
export function Face({ name, team }: { name: string; team: Team }) {
  const members = team.members.map((member) => member.name);
  return (
    <span class={`${css.face} ${css[toneOf(name, members)]}`} aria-hidden="true">
      {name.slice(0, 2).toUpperCase()}
    </span>
  );
}
