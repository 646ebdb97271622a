// What the tools of a task kept beside its thread: to look at, or to take home.

import type { wire } from "@aster/client";
import { Download, Eye } from "lucide-preact";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { engine } from "../../lib/engine.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { ago, bytes, exactly } from "../../lib/words.ts";
import { IconButton } from "../../ui/button.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { ArtifactDialog } from "./artifact-dialog.tsx";
import { artifactsPath, save } from "./artifact-files.ts";
import panel from "./panel.module.css";

export function Artifacts({ taskId, shown }: { taskId: string; shown: string | null }) {
  const [, navigate] = useLocation();
  const [problem, setProblem] = useState<unknown>(null);
  const found = useLoaded(() => engine.get<wire.ArtifactList>(artifactsPath(taskId)), [taskId]);
  if (found.error) return <Problem {...found} />;
  if (found.value === null) return <Loading label="Loading artifacts" />;
  const { artifacts } = found.value;
  if (artifacts.length === 0) {
    return (
      <Empty title="No artifacts">
        What tools produce that is too long for the conversation is kept here.
      </Empty>
    );
  }
  const show = (id: string | null) =>
    navigate(taskOf(taskId, "artifacts") + (id ? `?artifact=${encodeURIComponent(id)}` : ""), {
      replace: true,
    });
  const open = artifacts.find((one) => one.artifact_id === shown);
  const take = (one: wire.ArtifactEntry) => void save(taskId, one).catch(setProblem);
  return (
    <div class={panel.panel}>
      {problem ? <Problem error={problem} /> : null}
      <div class={panel.frame}>
        <table class={panel.table}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Kind</th>
              <th scope="col" class={panel.number}>
                Size
              </th>
              <th scope="col">Made</th>
              <th scope="col">
                <span class="visually-hidden">What can be done</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {artifacts.map((one) => (
              <tr key={one.artifact_id}>
                <td class={panel.name}>{one.name}</td>
                <td class={panel.soft}>{one.media_type}</td>
                <td class={panel.number}>{bytes(one.size)}</td>
                <td class={panel.soft} title={exactly(one.created_at)}>
                  {ago(one.created_at)}
                </td>
                <td class={panel.number}>
                  <IconButton size="s" label={`View ${one.name}`} onClick={() => show(one.artifact_id)}>
                    <Eye size={14} />
                  </IconButton>
                  <IconButton size="s" label={`Download ${one.name}`} onClick={() => take(one)}>
                    <Download size={14} />
                  </IconButton>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {open ? (
        <ArtifactDialog
          taskId={taskId}
          artifact={open}
          onLeave={() => show(null)}
          onSave={() => take(open)}
        />
      ) : null}
    </div>
  );
}
