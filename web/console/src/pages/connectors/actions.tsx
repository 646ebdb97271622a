// What a connected server brings: its tools, and the ways to its resources and prompts. Asked for when it is opened.

import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { useLoaded } from "../../lib/loaded.ts";
import { visible } from "../../lib/safe.ts";
import { Code } from "../../markdown/code.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Decision } from "../../ui/decision.tsx";
import { Loading, Problem } from "../../ui/page.tsx";
import css from "./actions.module.css";
import { Contents } from "./contents.tsx";
import { actions } from "./routes.ts";
import { sorted } from "./states.ts";

export function Actions({ refId, summary, round }: { refId: string; summary: string; round: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details class={css.actions} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open ? <Listed refId={refId} round={round} /> : null}
    </details>
  );
}

function Listed({ refId, round }: { refId: string; round: string }) {
  const { value, error, again } = useLoaded(() => actions(refId), [refId, round]);
  if (error) return <Problem error={error} again={again} />;
  if (!value) return <Loading />;
  const { tools, others } = sorted(value.actions);
  return (
    <ul class={css.list} aria-label="What the server offers">
      {[...tools, ...others].map((action) => (
        <One key={action.name} refId={refId} action={action} />
      ))}
    </ul>
  );
}

const KINDS = { resource: "resources", prompt: "prompts" };

function One({ refId, action }: { refId: string; action: wire.ActionEntry }) {
  const [open, setOpen] = useState(false);
  const { kind } = action;
  return (
    <li>
      <details class={css.action} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <code class={css.name}>{action.name}</code>
          {kind === "tool" ? null : <Badge tone="info">{KINDS[kind]}</Badge>}
          <Decision behavior={action.behavior} />
          <span class={css.about}>{visible(action.description)}</span>
        </summary>
        {kind === "tool" ? (
          <Code text={JSON.stringify(action.input_schema, null, 2)} language="json" />
        ) : open ? (
          <Contents refId={refId} kind={kind} />
        ) : null}
      </details>
    </li>
  );
}
