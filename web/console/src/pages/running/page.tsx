// Running: commands and agents in the background, of all tasks; each with what it says at an address of its own.

import { useLocation } from "wouter-preact";
import { idIn } from "../../lib/addresses.ts";
import { RunningList } from "./list.tsx";
import { RunningView } from "./view.tsx";

export default function RunningPage() {
  const [location] = useLocation();
  const [, , one] = location.split("/");
  if (!one) return <RunningList />;
  const id = idIn(one);
  return <RunningView key={id} id={id} />;
}
