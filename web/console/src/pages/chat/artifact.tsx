// Something a tool produced that was too long for the conversation; its contents are fetched when they are asked for.

import type { wire } from "@aster/client";
import { Download } from "lucide-preact";
import { useState } from "preact/hooks";
import { engine } from "../../lib/engine.ts";
import { bytes } from "../../lib/words.ts";
import { Button } from "../../ui/button.tsx";

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export function Artifact({ taskId, artifact }: { taskId: string; artifact: wire.Artifact }) {
  const [problem, setProblem] = useState<string | null>(null);
  const name = artifact.name ?? artifact.id;
  async function fetched() {
    const path = `/tasks/${encodeURIComponent(taskId)}/artifacts/${encodeURIComponent(artifact.id)}`;
    try {
      save(await (await engine.transport.open("GET", path)).blob(), name);
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }
  return (
    <div>
      <Button size="s" onClick={() => void fetched()}>
        <Download size={13} aria-hidden="true" /> {`${name} (${bytes(artifact.size)})`}
      </Button>
      {problem ? <p role="alert">{problem}</p> : null}
    </div>
  );
}
