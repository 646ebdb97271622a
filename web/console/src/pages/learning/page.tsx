// Learning: what it does, what it has changed and why, what it was good for; each view at an address of its own.

import { useLocation } from "wouter-preact";
import { idIn } from "../../lib/addresses.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { Page, Problem } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Changes } from "./changes.tsx";
import { ChangesetView } from "./changeset-view.tsx";
import { Journal } from "./journal.tsx";
import { LearnedView } from "./learned.tsx";
import { learning } from "./learning.ts";
import { Overview } from "./overview.tsx";
import { type Progress, useProgress } from "./progress.ts";
import { RunNow, RunTold, useRun } from "./run.tsx";
import { SelfPlay } from "./self-play.tsx";
import { TrialView } from "./trial-view.tsx";
import { Trials } from "./trials.tsx";

const VIEWS = [
  ["", "Overview"],
  ["changes", "Changes"],
  ["learned", "About me"],
  ["trials", "Trials"],
  ["journal", "Journal"],
  ["self-play", "Self-play"],
] as const;

export default function LearningPage() {
  const [location] = useLocation();
  const progress = useProgress();
  const status = useLoaded(learning.status, [progress.version]);
  const run = useRun();
  const [, , view = "", one] = location.split("/");
  return (
    <Page
      title="Learning"
      about="What is learned from your conversations, where it comes from, and whether it helps. Everything can be taken back."
      actions={<RunNow run={run} off={status.value?.mode === "off"} />}
    >
      <Tabs
        label="Views of learning"
        tabs={VIEWS.map(([name, title]) => ({
          ...{ href: name ? `/learning/${name}` : "/learning", title, current: view === name },
        }))}
      />
      {progress.error ? <Problem error={progress.error} /> : null}
      <RunTold run={run} progress={progress} />
      {view === "" ? (
        <Overview status={status} progress={progress} />
      ) : (
        <View name={view} one={one === undefined ? null : idIn(one)} progress={progress} />
      )}
    </Page>
  );
}

function View({ name, one, progress }: { name: string; one: string | null; progress: Progress }) {
  switch (name) {
    case "learned":
      return <LearnedView version={progress.version} />;
    case "trials":
      return one ? <TrialView id={one} version={progress.version} /> : <Trials version={progress.version} />;
    case "journal":
      return <Journal version={progress.version} />;
    case "self-play":
      return <SelfPlay version={progress.version} />;
    default:
      return one ? (
        <ChangesetView id={one} version={progress.version} />
      ) : (
        <Changes version={progress.learned} />
      );
  }
}
