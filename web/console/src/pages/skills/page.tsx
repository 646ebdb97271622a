// Skills: the list, one of them, and the editor. No name begins with a hyphen, so `-new` is nobody's.

import { useRoute } from "wouter-preact";
import { idIn } from "../../lib/addresses.ts";
import { ChangeSkill, NewSkill } from "./editing.tsx";
import { SkillList } from "./list.tsx";
import { SkillView } from "./view.tsx";

export default function SkillsPage() {
  const [, params] = useRoute("/skills/:name?/:what?");
  const name = params?.name ? idIn(params.name) : null;
  if (name === null) return <SkillList />;
  if (name === "-new") return <NewSkill />;
  return params?.what === "edit" ? (
    <ChangeSkill key={name} name={name} />
  ) : (
    <SkillView key={name} name={name} />
  );
}
