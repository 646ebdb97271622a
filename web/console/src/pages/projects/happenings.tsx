import { Link } from "wouter-preact";
import { chatOf } from "../../lib/addresses.ts";
import { usePaged } from "../../lib/paged.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { When } from "../../ui/when.tsx";
import css from "./artifacts.module.css";
import { type Happening, type Project, projects } from "./projects.ts";

/** What happened in a project, newest first. */
export function Happenings({ project }: { project: Project }) {
  const found = usePaged<Happening>(
    async (before) => {
      const page = await projects.events(project.project_id, before);
      return { items: page.events, next: page.next };
    },
    [project.project_id, project.version, project.status, project.used.steps],
  );
  return (
    <>
      {found.error ? <Problem error={found.error} again={found.again} /> : null}
      {found.items === null ? (
        found.error ? null : (
          <Loading label="Loading what happened" />
        )
      ) : found.items.length === 0 ? (
        <Empty title="Nothing has happened yet" />
      ) : (
        <Table label="What happened" head={["When", "What", "By", "Where"]}>
          {found.items.map((one) => (
            <tr key={one.number}>
              <td>
                <When iso={one.at} />
              </td>
              <td>
                <Badge>{one.kind.replaceAll("_", " ")}</Badge> {one.message}
              </td>
              <td>{one.by.startsWith("project/") ? "itself" : one.by}</td>
              <td>{one.task_id ? <Link href={chatOf(one.task_id)}>Open</Link> : "–"}</td>
            </tr>
          ))}
        </Table>
      )}
      {found.more ? (
        <Button class={css.more ?? ""} disabled={found.loading} onClick={found.more}>
          Show more
        </Button>
      ) : null}
    </>
  );
}
