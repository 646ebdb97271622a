// What an agent may see and do on this machine.

import type { wire } from "@aster/client";
import { Folder } from "lucide-preact";
import css from "./seeing.module.css";

const WORKSPACES: Record<wire.About["workspace"], string> = {
  folders: "Tools see these folders and nothing else:",
  task: "Each task works in an empty directory of its own. Nothing else on this machine is seen.",
  user: "All your tasks work in one directory of yours. Nothing else on this machine is seen.",
};
const MODES: Record<wire.About["permission_mode"], string> = {
  default: "You are asked before anything that may destroy something.",
  plan: "Nothing is changed: agents may look and plan.",
  auto: "You are asked before every change.",
  bypass: "Nothing is asked; only what is forbidden is refused.",
};

export function Seeing({ about }: { about: wire.About }) {
  return (
    <div class={css.seeing}>
      <p>{WORKSPACES[about.workspace]}</p>
      {about.folders.length ? (
        <ul class={css.folders}>
          {about.folders.map((folder) => (
            <li key={folder}>
              <Folder size={15} aria-hidden="true" /> <code>{folder}</code>
            </li>
          ))}
        </ul>
      ) : null}
      <p>{MODES[about.permission_mode]}</p>
      <p>
        {about.sandbox === "off"
          ? "Commands run without a sandbox: they can do what the engine itself can."
          : `Commands run in a sandbox (${about.sandbox}).`}
      </p>
      <p class={css.faint}>
        <code>ALLOWED_ROOTS</code>, <code>PERMISSION_MODE</code> and <code>SANDBOX</code> in the environment
        or in <code>.env</code> change this at the next start.
      </p>
    </div>
  );
}
