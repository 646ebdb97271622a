import { FolderPlus } from "lucide-preact";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { useLive } from "../../lib/live.ts";
import { plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Entry, EntryFacts, List } from "../../ui/list.tsx";
import { Empty, Loading, Page, Problem } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { When } from "../../ui/when.tsx";
import { ProjectDialog } from "./dialog.tsx";
import { projectOf, projects, STATUSES, type Summary } from "./projects.ts";

const SHOWN = [
  ["open", "Open"],
  ["over", "Done and archived"],
] as const;

const over = ({ status }: Summary): boolean => status === "DONE" || status === "ARCHIVED";

export function ProjectList() {
  const loaded = useLive(projects.list, []);
  const [shown, setShown] = useState<"open" | "over">("open");
  const [creating, setCreating] = useState(false);
  const [, navigate] = useLocation();
  const found = loaded.value?.projects.filter((one) => over(one) === (shown === "over")) ?? [];
  return (
    <Page
      title="Projects"
      about="Work of many steps over many turns, with what came of each. A project goes on by itself within its budgets, and asks when it needs you."
      actions={
        <Button kind="primary" onClick={() => setCreating(true)}>
          <FolderPlus size={15} aria-hidden="true" /> New project
        </Button>
      }
    >
      <div>
        <Segments label="Which projects" value={shown} options={SHOWN} onChoose={setShown} />
      </div>
      {loaded.error ? <Problem {...loaded} /> : null}
      {loaded.value === null ? (
        loaded.error ? null : (
          <Loading label="Loading projects" />
        )
      ) : found.length === 0 ? (
        <Empty title={shown === "open" ? "There is no project yet" : "None is done or archived"} />
      ) : (
        <List label="Projects">
          {found.map((project) => (
            <Row key={project.project_id} project={project} />
          ))}
        </List>
      )}
      {creating ? (
        <ProjectDialog
          onLeave={() => setCreating(false)}
          onDone={(project) => navigate(projectOf(project.project_id))}
        />
      ) : null}
    </Page>
  );
}

function Row({ project }: { project: Summary }) {
  const [words, tone] = STATUSES[project.status];
  const { pending = 0, in_progress = 0, completed = 0 } = project.items;
  const all = pending + in_progress + completed;
  return (
    <Entry
      name={project.title}
      href={projectOf(project.project_id)}
      badges={
        <>
          <Badge tone={tone}>{words}</Badge>
          {project.going ? <Badge tone="info">goes on by itself</Badge> : null}
        </>
      }
    >
      <EntryFacts>
        <span>{`${completed} of ${plural(all, "step")} done`}</span>
        {project.reason ? <span>{project.reason}</span> : null}
        <span>
          changed <When iso={project.updated_at} />
        </span>
      </EntryFacts>
    </Entry>
  );
}
