// What decides on calls: the rules and grants in force, what would happen with a call, and what a rule would have meant.

import { useState } from "preact/hooks";
import { useRoute } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Backtest } from "./backtest.tsx";
import { GrantDialog } from "./grant-dialog.tsx";
import { InForce } from "./in-force.tsx";
import { known, type Proposal } from "./routes.ts";
import { TryCall } from "./try-call.tsx";

const VIEWS = [
  ["", "In force"],
  ["test", "Try a call"],
  ["backtest", "Try a rule"],
] as const;

export default function PermissionsPage() {
  const [, params] = useRoute("/permissions/*?");
  const view = VIEWS.find(([name]) => name === params?.["*"])?.[0] ?? "";
  const loaded = useLoaded(known, []);
  const [proposal, setProposal] = useState<Proposal | null>(null);
  const tools = loaded.value?.tools ?? [];
  return (
    <Page
      title="Permissions"
      about="Before a tool runs, rules, the mode and grants decide: it runs, a person is asked, or it is refused."
    >
      <Tabs
        label="Permissions"
        tabs={VIEWS.map(([name, title]) => ({
          href: name ? `/permissions/${name}` : "/permissions",
          title,
          current: name === view,
        }))}
      />
      {view === "" ? <InForce loaded={loaded} propose={setProposal} /> : null}
      {view === "test" ? <TryCall tools={tools} propose={setProposal} /> : null}
      {view === "backtest" ? <Backtest tools={tools} propose={setProposal} /> : null}
      {proposal ? (
        <GrantDialog
          proposal={proposal}
          tools={tools}
          onLeave={() => setProposal(null)}
          onDone={() => {
            setProposal(null);
            loaded.again();
          }}
        />
      ) : null}
    </Page>
  );
}
