// One skill, whole: its instructions, its files, how it has done, and what can be done with it.

import type { wire } from "@aster/client";
import { Pencil, Trash2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { useSending } from "../../lib/sending.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { Back } from "../../ui/back.tsx";
import { Button } from "../../ui/button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Confirm } from "../../ui/form.tsx";
import { Card, Loading, Page, Problem } from "../../ui/page.tsx";
import { Acquired } from "./acquired.tsx";
import { Composed } from "./composed.tsx";
import { Files } from "./files.tsx";
import { Marks } from "./origins.tsx";
import { approve, remove, skill } from "./routes.ts";
import css from "./skills.module.css";

export function SkillView({ name }: { name: string }) {
  const { value, error, again } = useLoaded(() => skill(name), [name]);
  return (
    <Page
      title={name}
      about={<Back href="/skills">All skills</Back>}
      actions={value ? <Doings skill={value} again={again} /> : null}
    >
      {error ? <Problem error={error} again={again} /> : null}
      {value ? <Whole skill={value} /> : error ? null : <Loading />}
    </Page>
  );
}

function Whole({ skill: one }: { skill: wire.SkillAnswer }) {
  return (
    <>
      <Card>
        <div class={css.marks}>
          <Marks skill={one} />
        </div>
        <p class={css.description}>{one.description}</p>
        <Facts
          facts={[
            ["Category", one.category],
            ["Confidence", one.acquired ? `${Math.round(one.confidence * 100)} %` : null],
            ["Good at", one.capabilities.join(", ")],
            ["Asks for the tools", one.allowed_tools.join(", ")],
          ]}
        />
      </Card>
      {one.acquired ? <Acquired acquired={one.acquired} /> : null}
      {one.composed ? <Composed composed={one.composed} /> : null}
      {one.prompt_template ? (
        <Card title="Instructions">
          <Markdown text={one.prompt_template} />
        </Card>
      ) : null}
      {one.files.length ? <Files files={one.files} texts={one.scripts} /> : null}
    </>
  );
}

function Doings({ skill: one, again }: { skill: wire.SkillAnswer; again: () => void }) {
  const [, navigate] = useLocation();
  const [removing, setRemoving] = useState(false);
  const { sending, problem, send } = useSending();
  if (one.source !== "custom") return null;
  return (
    <>
      {one.composed?.status === "proposed" ? (
        <Button
          kind="primary"
          disabled={sending}
          onClick={() => void send(() => approve(one.name)).then(again)}
        >
          Approve
        </Button>
      ) : null}
      {one.origin === "custom" ? (
        <Button onClick={() => navigate(`/skills/${encodeURIComponent(one.name)}/edit`)}>
          <Pencil size={14} aria-hidden="true" /> Edit
        </Button>
      ) : null}
      <Button kind="danger" onClick={() => setRemoving(true)}>
        <Trash2 size={14} aria-hidden="true" /> Delete
      </Button>
      {problem ? <Problem error={problem} /> : null}
      {removing ? (
        <Confirm
          title={`Delete ${one.name}?`}
          submit="Delete"
          onLeave={() => setRemoving(false)}
          send={async () => {
            await remove(one.name);
            navigate("/skills");
          }}
        >
          The skill goes for good, with its files. Turns do not know it any more from the next one on.
        </Confirm>
      ) : null}
    </>
  );
}
