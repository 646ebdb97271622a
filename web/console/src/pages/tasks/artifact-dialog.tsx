import type { wire } from "@aster/client";
import { Download } from "lucide-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { bytes } from "../../lib/words.ts";
import { Long } from "../../markdown/long.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Loading, Problem } from "../../ui/page.tsx";
import css from "./artifact-dialog.module.css";
import { look, type Seen } from "./artifact-files.ts";
import dialogs from "./dialogs.module.css";

interface Props {
  taskId: string;
  artifact: wire.ArtifactEntry;
  onLeave: () => void;
  onSave: () => void;
}

export function ArtifactDialog({ taskId, artifact, onLeave, onSave }: Props) {
  const seen = useLoaded(() => look(taskId, artifact), [taskId, artifact.artifact_id]);
  return (
    <Dialog title={artifact.name} wide onLeave={onLeave}>
      <div class={dialogs.form}>
        <p class={css.facts}>{`${artifact.media_type} · ${bytes(artifact.size)}`}</p>
        {seen.error ? <Problem {...seen} /> : null}
        {seen.value ? <Contents seen={seen.value} name={artifact.name} /> : null}
        {seen.loading && !seen.value ? <Loading /> : null}
        <div class={dialogs.buttons}>
          <Button onClick={onSave}>
            <Download size={14} /> Download
          </Button>
          <Button kind="primary" onClick={onLeave}>
            Close
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Contents({ seen, name }: { seen: Seen; name: string }) {
  if (seen.kind === "picture") return <img class={css.picture} src={seen.src} alt={name} />;
  if (seen.kind === "other")
    return <p class={css.facts}>This cannot be shown here. Download it to open it.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long text is scrolled with the keyboard
    <pre class={css.text} tabIndex={0}>
      <Long text={seen.text} />
    </pre>
  );
}
