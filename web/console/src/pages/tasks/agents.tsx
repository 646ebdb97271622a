// The tasks that a task's sub-agents worked in.

import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { useListing } from "./listing.ts";
import css from "./panel.module.css";
import { TaskTable } from "./table.tsx";

export function Agents({ taskId }: { taskId: string }) {
  const { tasks, loading, error, again } = useListing({ parent: taskId });
  if (error) return <Problem error={error} again={again} />;
  if (tasks.length === 0) {
    if (loading) return <Loading />;
    return (
      <Empty title="No sub-agents">When an agent hands work to another one, that work is listed here.</Empty>
    );
  }
  return (
    <div class={css.panel}>
      <TaskTable tasks={tasks} onRenamed={again} onRemoved={again} />
    </div>
  );
}
