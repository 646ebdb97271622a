import { Badge, type Tone } from "../../ui/badge.tsx";
import { NAMES, type Store } from "./memory.ts";

const TONES: Partial<Record<Store, Tone>> = {
  knowledge: "accent",
  social: "info",
  lessons: "warn",
  profile: "good",
};

export function StoreBadge({ store }: { store: Store }) {
  return <Badge tone={TONES[store] ?? "plain"}>{NAMES[store]}</Badge>;
}
