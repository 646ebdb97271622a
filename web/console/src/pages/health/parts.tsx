// The parts of the engine, each in a card: what runs turns, what keeps things, what isolates tools, what remembers.

import type { wire } from "@aster/client";
import { Boxes, Brain, Database, Gauge, Info, Layers } from "lucide-preact";
import { count, duration } from "../../lib/words.ts";
import type { Detail } from "../../ui/details.tsx";
import { Meter } from "../../ui/meter.tsx";
import { partOf, type State, told } from "./health.ts";
import { Numbers } from "./numbers.tsx";
import { PartCard } from "./part-card.tsx";
import css from "./parts.module.css";

const BUSY = 0.8;
const known = (name: string, value: string | null): Detail | null => (value === null ? null : [name, value]);

export function Parts({ health, about, metrics }: State) {
  return (
    <div class={css.parts}>
      <Slots health={health} />
      <Store health={health} about={about} />
      <Sandbox health={health} />
      <Remembering health={health} />
      <PartCard
        title="Version"
        icon={Info}
        part={null}
        details={[
          ["Aster", about.version],
          ["Python", about.python],
          ["Up for", duration(health.uptime_seconds * 1000)],
          ["Permissions", about.permission_mode],
          ["Turn length", `${count(about.max_turns)} calls at most`],
        ]}
      />
      {metrics ? (
        <PartCard title="Right now" icon={Gauge} part={null} details={[]}>
          <Numbers metrics={metrics} />
        </PartCard>
      ) : null}
    </div>
  );
}

function Slots({ health }: { health: wire.Health }) {
  const part = partOf(health, "slots");
  const [used, total] = [Number(part?.used ?? 0), Number(part?.total ?? 0)];
  const share = total ? used / total : 0;
  return (
    <PartCard
      title="Slots"
      icon={Layers}
      part={part}
      details={[
        ["Running", `${count(used)} of ${count(total)}`],
        ["Free", count(total - used)],
      ]}
    >
      <Meter label="Slots taken" value={share} tone={share >= 1 ? "bad" : share >= BUSY ? "warn" : "good"} />
    </PartCard>
  );
}

function Store({ health, about }: { health: wire.Health; about: wire.About }) {
  const part = partOf(health, "brain");
  return (
    <PartCard
      title="Brain"
      icon={Database}
      part={part}
      details={[
        known("Kept in", told(part, "backend")),
        known("Schema", told(part, "schema_version")),
        known("Uncommitted", told(part, "backlog")),
        ["Answered by", <code key="replica">{about.replica}</code>],
      ]}
    />
  );
}

interface Tried {
  backend: string;
  ok: boolean;
  reason: string;
}

function Sandbox({ health }: { health: wire.Health }) {
  const part = partOf(health, "sandbox");
  const tried = Array.isArray(part?.tried) ? (part.tried as Tried[]) : [];
  return (
    <PartCard
      title="Sandbox"
      icon={Boxes}
      part={part}
      word={part?.backend === "off" ? ["warn", "off"] : null}
      details={[
        known("Isolation", told(part, "backend")),
        known("Why", told(part, "reason")),
        ...tried.filter(({ ok }) => !ok).map(({ backend, reason }): Detail => [`Not ${backend}`, reason]),
      ]}
    />
  );
}

function Remembering({ health }: { health: wire.Health }) {
  const part = partOf(health, "memory");
  return (
    <PartCard
      title="Memory"
      icon={Brain}
      part={part}
      details={[
        known("Vectors by", told(part, "embedding_model")),
        known("Searched by", told(part, "vectors")),
        known("Without vector", told(part, "pending_vectors")),
        part ? ["Shelves", part.warm ? "all read" : `${told(part, "cold_shelves")} still to be read`] : null,
        known("Note", told(part, "note")),
      ]}
    />
  );
}
