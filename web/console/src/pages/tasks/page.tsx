// The tasks: all of them, or one as it was worked on.

import { useRoute } from "wouter-preact";
import { idIn } from "../../lib/addresses.ts";
import { TaskList } from "./list.tsx";
import { TaskPage } from "./task.tsx";

export default function TasksPage() {
  const [, params] = useRoute("/tasks/:task/:view?");
  if (!params?.task) return <TaskList />;
  const taskId = idIn(params.task);
  return <TaskPage key={taskId} taskId={taskId} view={params.view ?? ""} />;
}
