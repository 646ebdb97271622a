// Taking a whole memory along as a file, and taking one in.

import { Download, Upload } from "lucide-preact";
import { useRef, useState } from "preact/hooks";
import { plural } from "../../lib/words.ts";
import { Button } from "../../ui/button.tsx";
import { memory } from "./memory.ts";

interface Props {
  onImported: () => void;
  tell: (told: { sentence: string } | { problem: unknown }) => void;
}

export function Moving({ onImported, tell }: Props) {
  const [busy, setBusy] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  async function doing(work: () => Promise<string | null>) {
    setBusy(true);
    try {
      const sentence = await work();
      if (sentence) tell({ sentence });
    } catch (problem) {
      tell({ problem });
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <Button disabled={busy} onClick={() => void doing(exported)}>
        <Download size={14} /> Export
      </Button>
      <Button disabled={busy} onClick={() => picker.current?.click()}>
        <Upload size={14} /> Import
      </Button>
      <input
        ref={picker}
        hidden
        type="file"
        accept="application/json,.json"
        aria-label="A file with an exported memory"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (file) void doing(() => imported(file).finally(onImported));
        }}
      />
    </>
  );
}

async function exported(): Promise<null> {
  const address = URL.createObjectURL(await memory.bundle());
  const link = document.createElement("a");
  link.href = address;
  link.download = "aster-memory.json";
  link.click();
  URL.revokeObjectURL(address);
  return null;
}

async function imported(file: File): Promise<string> {
  const done = await memory.takeIn(parsed(await file.text()));
  const skills = done.skills ? `, ${plural(done.skills, "skill")}` : "";
  return `${plural(done.imported, "memory", "memories")}${skills} taken in; ${done.known} were known already.`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("This file is not JSON. Choose one that “Export” has made.");
  }
}
