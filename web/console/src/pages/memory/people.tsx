// The social graph, drawn and as a list: who and what there is, and what holds between them.

import { useMemo } from "preact/hooks";
import { Link } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { plural } from "../../lib/words.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Card, Empty, Loading, Problem } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { Drawing } from "./drawing.tsx";
import { type Being, type Graph, graphOf } from "./graph.ts";
import lists from "./list.module.css";
import { type Kept, memory, recordOf } from "./memory.ts";
import css from "./people.module.css";

const MOST = 500;
const TONES: Record<string, Tone> = { person: "accent", organisation: "info", place: "good" };

export function People() {
  const kept = useLoaded(() => memory.page({ store: "social", limit: MOST }), []);
  const graph = useMemo(() => graphOf((kept.value?.records ?? []) as Kept[]), [kept.value]);
  if (kept.error) return <Problem error={kept.error} again={kept.again} />;
  if (kept.value === null) return <Loading />;
  if (graph.beings.length === 0)
    return (
      <Empty title="Nobody is known yet">
        People, places and organisations you speak of appear here, with what holds between them.
      </Empty>
    );
  return (
    <div class={lists.stack}>
      <p class={lists.faint}>
        {plural(graph.beings.length, "name")} and {plural(graph.ties.length, "relation")}
        {kept.value.next === null ? "" : `, the newest ${MOST}`}. The wheel zooms, dragging moves, a click
        opens the record.
      </p>
      <Drawing graph={graph} />
      <Card title="As a list">
        <Table label="People and things with their relations" head={["Name", "Kind", "Relations"]}>
          {graph.beings
            .toSorted((a, b) => b.degree - a.degree || a.name.localeCompare(b.name))
            .map((being) => (
              <Row key={being.id} being={being} graph={graph} />
            ))}
        </Table>
      </Card>
    </div>
  );
}

function Row({ being, graph }: { being: Being; graph: Graph }) {
  const name = (id: string) => graph.beings.find((one) => one.id === id)?.name ?? "";
  const ties = graph.ties.filter(({ source, target }) => source === being.id || target === being.id);
  return (
    <tr>
      <td>
        <Link href={recordOf(being.id)}>{being.name}</Link>
      </td>
      <td>
        <Badge tone={TONES[being.type] ?? "plain"}>{being.type}</Badge>
      </td>
      <td>
        <ul class={css.ties}>
          {ties.map((tie) => (
            <li key={tie.id}>
              <Link href={recordOf(tie.id)}>
                {tie.source === being.id
                  ? `${tie.relation} ${name(tie.target)}`
                  : `${name(tie.source)} ${tie.relation} ${being.name}`}
              </Link>
            </li>
          ))}
        </ul>
      </td>
    </tr>
  );
}
