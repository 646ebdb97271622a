// Schedules: what is said later, again and again, or when something becomes so; each with its times at an address of its
// own.

import { useLocation } from "wouter-preact";
import { idIn } from "../../lib/addresses.ts";
import { ScheduleList } from "./list.tsx";
import { ScheduleView } from "./view.tsx";

export default function SchedulesPage() {
  const [location] = useLocation();
  const [, , one] = location.split("/");
  if (!one) return <ScheduleList />;
  const id = idIn(one);
  return <ScheduleView key={id} id={id} />;
}
