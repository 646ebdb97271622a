// Teams: who works together, on what, and what they say to each other; each team at an address of its own.

import { useLocation } from "wouter-preact";
import { idIn } from "../../lib/addresses.ts";
import { TeamList } from "./list.tsx";
import { TeamView } from "./view.tsx";

export default function TeamsPage() {
  const [location] = useLocation();
  const [, , one] = location.split("/");
  if (!one) return <TeamList />;
  const id = idIn(one);
  return <TeamView key={id} id={id} />;
}
