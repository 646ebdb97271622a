// The processes that share the work: which there are, since when, which of them leads and which has answered.

import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { When } from "../../ui/when.tsx";
import type { State } from "./health.ts";
import css from "./models.module.css";

export function Replicas({ replicas }: State) {
  if (replicas === null) return null;
  return (
    <Card title="Replicas">
      <p class={css.about}>
        {replicas.length === 1
          ? "One process does all the work."
          : "These processes share the work; what one of them leaves, another takes up."}
      </p>
      <Table label="Replicas" head={["Replica", "Since", "Part"]}>
        {replicas.map((one) => (
          <tr key={one.replica}>
            <td>
              <code>{one.replica}</code>
            </td>
            <td>
              <When iso={one.since} />
            </td>
            <td>
              <span class={css.badges}>
                {one.leads ? <Badge tone="accent">leads</Badge> : null}
                {one.answers ? <Badge tone="info">answers you</Badge> : null}
              </span>
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
