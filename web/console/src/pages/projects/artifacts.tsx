// What came of a project's steps: files, addresses, notes, calls.

import { FileText, Globe, type LucideIcon, StickyNote, Wrench } from "lucide-preact";
import { Link } from "wouter-preact";
import { chatOf } from "../../lib/addresses.ts";
import { usePaged } from "../../lib/paged.ts";
import { safeHref } from "../../lib/safe.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import css from "./artifacts.module.css";
import { type Artifact, type Project, projects } from "./projects.ts";

const ICONS: Record<Artifact["kind"], LucideIcon> = {
  file: FileText,
  url: Globe,
  note: StickyNote,
  tool_call: Wrench,
};

export function Artifacts({ project }: { project: Project }) {
  const found = usePaged<Artifact>(
    async (before) => {
      const page = await projects.artifacts(project.project_id, before);
      return { items: page.artifacts, next: page.next };
    },
    [project.project_id, project.version, project.used.steps],
  );
  return (
    <>
      {found.error ? <Problem error={found.error} again={found.again} /> : null}
      {found.items === null ? (
        found.error ? null : (
          <Loading label="Loading artifacts" />
        )
      ) : found.items.length === 0 ? (
        <Empty title="Nothing has come of it yet" />
      ) : (
        <ul class={css.list} aria-label="Artifacts">
          {found.items.map((artifact) => (
            <Row key={artifact.artifact_id} artifact={artifact} />
          ))}
        </ul>
      )}
      {found.more ? (
        <Button class={css.more ?? ""} disabled={found.loading} onClick={found.more}>
          Show more
        </Button>
      ) : null}
    </>
  );
}

function Row({ artifact }: { artifact: Artifact }) {
  const Icon = ICONS[artifact.kind];
  const href = artifact.kind === "url" ? safeHref(artifact.content) : null;
  return (
    <li class={css.artifact}>
      <p class={css.head}>
        <Icon size={15} aria-hidden="true" />
        <b>{artifact.name || artifact.kind}</b>
        <Badge>{artifact.kind.replace("_", " ")}</Badge>
        {artifact.task_id ? <Link href={chatOf(artifact.task_id)}>where it was made</Link> : null}
        <span class={css.when}>
          <When iso={artifact.created_at} />
        </span>
      </p>
      {href ? (
        <a href={href} rel="noreferrer noopener" target="_blank">
          {artifact.content}
        </a>
      ) : artifact.kind === "note" ? (
        <Markdown text={artifact.content} />
      ) : (
        <code class={css.content}>{artifact.content}</code>
      )}
    </li>
  );
}
