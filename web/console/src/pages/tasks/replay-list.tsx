// The replays of a task, the newest first; each leads to its report and to its thread.

import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card, Empty, Loading, Problem } from "../../ui/page.tsx";
import { Figure, Table } from "../../ui/table.tsx";
import { When } from "../../ui/when.tsx";
import { replays, reportOf } from "./again-routes.ts";

interface Props {
  taskId: string;
  shown: string | null;
  /** The place that is chosen for the next one. */
  seq: number | null;
}

export function ReplayList({ taskId, shown, seq }: Props) {
  const found = useLoaded(() => replays.list(taskId), [taskId, shown]);
  if (found.error) return <Problem error={found.error} again={found.again} />;
  if (found.value === null) return <Loading />;
  const { replays: all } = found.value;
  if (all.length === 0)
    return (
      <Empty title="Nothing was run again yet">
        Choose a model call and what is to be different. You will see where it takes another way, how its
        answer differs, and what it costs.
      </Empty>
    );
  return (
    <Card title="Replays">
      <Table label="Replays" head={["Replay", "When", "#From", "State", ""]}>
        {all.map((one) => (
          <tr key={one.replay_task_id} aria-current={one.replay_task_id === shown ? "true" : undefined}>
            <td>
              <Link href={reportOf(taskId, one.replay_task_id, seq)}>{one.replay_task_id}</Link>
            </td>
            <td>
              <When iso={one.created_at} />
            </td>
            <Figure>{one.from_seq}</Figure>
            <td>
              <Badge tone={one.status === "running" ? "info" : "plain"}>{one.status}</Badge>
            </td>
            <td>
              <Link href={taskOf(one.replay_task_id)}>its thread</Link>
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
