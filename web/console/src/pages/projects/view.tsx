// One project: what it needs of you, its steps as a tree, what came of them, what happened; it is taken on step by step or
// goes on by itself.

import { Archive, FastForward, Pause, Pencil, Play, StepForward } from "lucide-preact";
import { useState } from "preact/hooks";
import { useLive } from "../../lib/live.ts";
import type { Loaded } from "../../lib/loaded.ts";
import { useSending } from "../../lib/sending.ts";
import { Back } from "../../ui/back.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Confirm } from "../../ui/form.tsx";
import { Loading, Page, Problem } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Artifacts } from "./artifacts.tsx";
import { Budget } from "./budget.tsx";
import { ProjectDialog } from "./dialog.tsx";
import { Happenings } from "./happenings.tsx";
import { NeedsYou } from "./needs-you.tsx";
import { type Project, projectOf, projects, STATUSES } from "./projects.ts";
import { Steps } from "./steps.tsx";
import css from "./view.module.css";

const VIEWS = [
  ["", "Steps"],
  ["artifacts", "Artifacts"],
  ["events", "What happened"],
] as const;

export function ProjectView({ id, view }: { id: string; view: string }) {
  const loaded = useLive(() => projects.found(id), [id]);
  const project = loaded.value;
  if (project === null) {
    return (
      <Page title="Project">
        <Back href="/projects">All projects</Back>
        {loaded.error ? <Problem {...loaded} /> : <Loading label="Loading the project" />}
      </Page>
    );
  }
  return <Shown project={project} loaded={loaded} view={view} />;
}

function Shown({ project, loaded, view }: { project: Project; loaded: Loaded<Project>; view: string }) {
  const { sending, problem, send } = useSending();
  const [doing, setDoing] = useState<"edit" | "archive" | null>(null);
  const act = (work: () => Promise<unknown>) => void send(() => work().then(loaded.again));
  const [words, tone] = STATUSES[project.status];
  return (
    <Page
      title={project.title}
      about={project.brief}
      actions={<Controls {...{ project, sending, act }} onAsk={setDoing} />}
    >
      <Back href="/projects">All projects</Back>
      <p class={css.badges} role="status">
        <Badge tone={tone}>{words}</Badge>
        {project.going ? <Badge tone="info">goes on by itself</Badge> : null}
        {project.advance && project.status !== "NEEDS_USER" ? (
          <Badge tone="info">{`a step is ${project.advance.status}`}</Badge>
        ) : null}
      </p>
      {loaded.error ? <Problem {...loaded} /> : null}
      {problem ? <Problem error={problem} /> : null}
      <NeedsYou project={project} again={loaded.again} />
      <Budget project={project} />
      <Tabs
        label="Views of the project"
        tabs={VIEWS.map(([name, title]) => ({
          ...{ href: projectOf(project.project_id, name), title, current: name === view },
        }))}
      />
      {view === "artifacts" ? (
        <Artifacts project={project} />
      ) : view === "events" ? (
        <Happenings project={project} />
      ) : (
        <Steps project={project} />
      )}
      {doing === "edit" ? (
        <ProjectDialog
          project={project}
          onLeave={() => setDoing(null)}
          onDone={() => {
            setDoing(null);
            loaded.again();
          }}
        />
      ) : null}
      {doing === "archive" ? (
        <Confirm
          title={`Archive ${project.title}?`}
          submit="Archive it"
          onLeave={() => setDoing(null)}
          send={async () => {
            await projects.archive(project.project_id);
            setDoing(null);
            loaded.again();
          }}
        >
          Nothing more is worked on. It stays readable, with everything that came of it.
        </Confirm>
      ) : null}
    </Page>
  );
}

interface ControlsProps {
  project: Project;
  sending: boolean;
  act: (work: () => Promise<unknown>) => void;
  onAsk: (what: "edit" | "archive") => void;
}

function Controls({ project, sending, act, onAsk }: ControlsProps) {
  const id = project.project_id;
  if (project.status === "ARCHIVED") return null;
  const busy = project.going || project.advance !== null;
  return (
    <>
      {project.status === "PAUSED" ? (
        <Button kind="primary" disabled={sending} onClick={() => act(() => projects.resume(id, null))}>
          <Play size={14} aria-hidden="true" /> Resume
        </Button>
      ) : null}
      {project.status === "ACTIVE" && !busy ? (
        <>
          <Button disabled={sending} onClick={() => act(() => projects.advance(id, "step"))}>
            <StepForward size={14} aria-hidden="true" /> One step
          </Button>
          <Button
            kind="primary"
            disabled={sending}
            onClick={() => act(() => projects.advance(id, "blocked"))}
          >
            <FastForward size={14} aria-hidden="true" /> Go on
          </Button>
        </>
      ) : null}
      {project.status === "ACTIVE" ? (
        <Button disabled={sending} onClick={() => act(() => projects.pause(id))}>
          <Pause size={14} aria-hidden="true" /> Pause
        </Button>
      ) : null}
      <IconButton label="Change the project" onClick={() => onAsk("edit")}>
        <Pencil size={15} />
      </IconButton>
      <IconButton label="Archive the project" onClick={() => onAsk("archive")}>
        <Archive size={15} />
      </IconButton>
    </>
  );
}
