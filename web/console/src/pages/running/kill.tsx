// Stopping something that runs in the background, asked for once more before it is done.

import { Square } from "lucide-preact";
import { useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/form.tsx";
import { type RuntimeTask, runtime } from "./runtime.ts";

interface Props {
  task: RuntimeTask;
  again: () => void;
  size: "s" | "m";
}

export function Kill({ task, again, size }: Props) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button size={size} kind="danger" onClick={() => setAsking(true)}>
        <Square size={12} aria-hidden="true" /> Kill
      </Button>
      {asking ? (
        <Confirm
          title={task.kind === "agent" ? "Stop this agent?" : "Kill this command?"}
          submit={task.kind === "agent" ? "Stop it" : "Kill it"}
          onLeave={() => setAsking(false)}
          send={async () => {
            await runtime.kill(task.id);
            setAsking(false);
            again();
          }}
        >
          {`“${task.description || task.id}” is ended at once, with everything it has begun. What it has said stays.`}
        </Confirm>
      ) : null}
    </>
  );
}
