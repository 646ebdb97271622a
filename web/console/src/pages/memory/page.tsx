// Memory: everything that is kept about and for this person, each view at an address of its own.

import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { idIn } from "../../lib/addresses.ts";
import { Page, Problem } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Changes } from "./changes.tsx";
import { Documents } from "./documents.tsx";
import { Find } from "./find.tsx";
import { Lessons } from "./lessons.tsx";
import { Moving } from "./moving.tsx";
import css from "./page.module.css";
import { People } from "./people.tsx";
import { RecordView } from "./record.tsx";
import { Soul } from "./soul.tsx";
import { Working } from "./working.tsx";

const VIEWS = [
  ["", "Search", Find],
  ["people", "People", People],
  ["lessons", "Lessons", Lessons],
  ["soul", "Soul", Soul],
  ["working", "Working memory", Working],
  ["changes", "Contradictions", Changes],
  ["documents", "Documents", Documents],
] as const;

type Told = { sentence: string } | { problem: unknown } | null;

export default function MemoryPage() {
  const [location] = useLocation();
  const [told, setTold] = useState<Told>(null);
  const [round, setRound] = useState(0);
  const [, , view = "", record] = location.split("/");
  const [, , View] = VIEWS.find(([name]) => name === view) ?? VIEWS[0];
  return (
    <Page
      title="Memory"
      about="What is remembered for you, and where each memory came from."
      actions={<Moving tell={setTold} onImported={() => setRound((n) => n + 1)} />}
    >
      {told && "problem" in told ? <Problem error={told.problem} /> : null}
      {told && "sentence" in told ? (
        <p class={css.told} role="status">
          {told.sentence}
        </p>
      ) : null}
      <Tabs
        label="Views of memory"
        tabs={VIEWS.map(([name, title]) => ({
          href: name ? `/memory/${name}` : "/memory",
          title,
          current: !record && view === name,
        }))}
      />
      {view === "records" && record ? <RecordView id={idIn(record)} /> : <View key={round} />}
    </Page>
  );
}
