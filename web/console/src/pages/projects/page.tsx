// Projects: work of many steps over many turns; each at an address of its own.

import { useLocation } from "wouter-preact";
import { idIn } from "../../lib/addresses.ts";
import { ProjectList } from "./list.tsx";
import { ProjectView } from "./view.tsx";

export default function ProjectsPage() {
  const [location] = useLocation();
  const [, , one, view = ""] = location.split("/");
  if (!one) return <ProjectList />;
  const id = idIn(one);
  return <ProjectView key={id} id={id} view={view} />;
}
