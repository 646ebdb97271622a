// What the engine runs with, as far as it tells whoever holds this key.

import { about } from "../../lib/about.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { count } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Details } from "../../ui/details.tsx";
import { Card, Loading, Problem } from "../../ui/page.tsx";
import { Answering } from "./answering.tsx";
import { ModelCheck } from "./model-check.tsx";
import { Seeing } from "./seeing.tsx";

export function EngineCards() {
  const told = useLoaded(about, []);
  if (told.error) return <Problem error={told.error} again={told.again} />;
  if (told.value === null) return <Loading />;
  const engineIs = told.value;
  return (
    <>
      <Card title="The model">
        <Answering />
        <ModelCheck />
      </Card>
      <Card title="What agents may see">
        <Seeing about={engineIs} />
      </Card>
      <Card title="The engine">
        <Details
          details={[
            ["Aster", engineIs.version],
            ["Python", engineIs.python],
            [
              "You are",
              <span key="who">
                {engineIs.user_id} {engineIs.operator ? <Badge tone="accent">operator</Badge> : null}
              </span>,
            ],
            [
              "Models to choose",
              engineIs.allowed_models.length ? engineIs.allowed_models.join(", ") : "the usual one",
            ],
            ["Memory", engineIs.memory_enabled ? "on" : "off"],
            ["Model calls a turn", `${count(engineIs.max_turns)} at most`],
          ]}
        />
      </Card>
    </>
  );
}
