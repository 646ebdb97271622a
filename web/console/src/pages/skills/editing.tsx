// A skill of one's own, written or changed. What is typed stays as it is when the engine refuses it.

import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { Back } from "../../ui/back.tsx";
import { Loading, Page, Problem } from "../../ui/page.tsx";
import { Editor } from "./editor.tsx";
import { change, create, skill } from "./routes.ts";
import { BLANK, type Draft, draftOf } from "./skill-text.ts";

const placeOf = (name: string) => `/skills/${encodeURIComponent(name)}`;

export function NewSkill() {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState<Draft>(BLANK);
  return (
    <Page title="New skill" about={<Back href="/skills">All skills</Back>}>
      <Editor
        draft={draft}
        onChange={setDraft}
        submit="Create"
        send={async () => navigate(placeOf((await create(draft)).name))}
        onLeave={() => navigate("/skills")}
        fresh
      />
    </Page>
  );
}

export function ChangeSkill({ name }: { name: string }) {
  const { value, error, again } = useLoaded(() => skill(name), [name]);
  return (
    <Page title={`Edit ${name}`} about={<Back href="/skills">All skills</Back>}>
      {error ? <Problem error={error} again={again} /> : null}
      {value ? <Changing first={draftOf(value)} /> : error ? null : <Loading />}
    </Page>
  );
}

function Changing({ first }: { first: Draft }) {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState(first);
  return (
    <Editor
      draft={draft}
      onChange={setDraft}
      submit="Save"
      send={async () => {
        await change(draft);
        navigate(placeOf(draft.name));
      }}
      onLeave={() => navigate(placeOf(draft.name))}
    />
  );
}
