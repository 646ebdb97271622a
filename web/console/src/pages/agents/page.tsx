// Agents: a prompt, the tools it may call, and limits. The engine's, the operator's, and one's own.

import { Plus } from "lucide-preact";
import { useState } from "preact/hooks";
import { useLoaded } from "../../lib/loaded.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/form.tsx";
import { Section } from "../../ui/list.tsx";
import { Empty, Loading, Page, Problem } from "../../ui/page.tsx";
import { AgentDialog } from "./agent-dialog.tsx";
import { AgentCards } from "./cards.tsx";
import { BLANK, copyOf, type Draft, draftOf } from "./drafts.ts";
import { type Agent, agents, remove } from "./routes.ts";

type Doing = { what: "write"; draft: Draft; fresh: boolean } | { what: "remove"; agent: Agent } | null;

export default function AgentsPage() {
  const { value, error, again } = useLoaded(agents, []);
  const [doing, setDoing] = useState<Doing>(null);
  const names = (value ?? []).map((agent) => agent.name);
  const own = (value ?? []).filter((agent) => agent.source === "user");
  const others = (value ?? []).filter((agent) => agent.source !== "user");
  const leave = () => setDoing(null);
  function done() {
    leave();
    again();
  }
  return (
    <Page
      title="Agents"
      about="Who answers when you name them, and whom others hand work on to. An agent is a prompt and limits; nothing in it is a permission."
      actions={
        <Button kind="primary" onClick={() => setDoing({ what: "write", draft: BLANK, fresh: true })}>
          <Plus size={15} aria-hidden="true" /> New agent
        </Button>
      }
    >
      {error ? <Problem error={error} again={again} /> : null}
      {value === null && !error ? <Loading /> : null}
      {value ? (
        <>
          <Section title="Yours">
            {own.length ? (
              <AgentCards
                agents={own}
                onEdit={(agent) => setDoing({ what: "write", draft: draftOf(agent), fresh: false })}
                onRemove={(agent) => setDoing({ what: "remove", agent })}
              />
            ) : (
              <Empty title="None of your own yet">Write one, or begin with a copy of one below.</Empty>
            )}
          </Section>
          <Section title="Everybody's">
            <AgentCards
              agents={others}
              onCopy={(agent) => setDoing({ what: "write", draft: copyOf(agent, names), fresh: true })}
            />
          </Section>
        </>
      ) : null}
      {doing?.what === "write" ? (
        <AgentDialog first={doing.draft} fresh={doing.fresh} onLeave={leave} onDone={done} />
      ) : null}
      {doing?.what === "remove" ? (
        <Confirm
          title={`Delete ${doing.agent.name}?`}
          submit="Delete"
          onLeave={leave}
          send={async () => {
            await remove(doing.agent.name);
            done();
          }}
        >
          The agent goes for good. Turns that have begun with it go on with it.
        </Confirm>
      ) : null}
    </Page>
  );
}
