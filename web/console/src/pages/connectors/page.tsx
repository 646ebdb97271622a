// Servers whose tools agents can call: those one is connected to, with what they bring and how they stand, and those one
// could connect to.

import { Plus } from "lucide-preact";
import { useEffect, useState } from "preact/hooks";
import { useLoaded } from "../../lib/loaded.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/list.tsx";
import { Empty, Loading, Page, Problem } from "../../ui/page.tsx";
import { Available } from "./available.tsx";
import { Connected } from "./connected.tsx";
import { CredentialsDialog } from "./credentials-dialog.tsx";
import { LoginDialog } from "./login-dialog.tsx";
import { OwnServerDialog } from "./own-server-dialog.tsx";
import { connect, type Known, known, login } from "./routes.ts";
import { type Connection, type Server, stateOf } from "./states.ts";

/** How often connections that wait or rest are looked at again. */
const EVERY_MS = 5000;

type Doing =
  | { what: "login"; before: Connection; url: string }
  | { what: "credentials"; server: Server }
  | { what: "own" }
  | null;

export default function ConnectorsPage() {
  const { value, error, again } = useLoaded(known, []);
  const [doing, setDoing] = useState<Doing>(null);
  const unsettled = value?.connections.some((one) => stateOf(one)[1] !== "good") ?? false;
  useEffect(() => {
    if (!unsettled) return;
    const timer = setInterval(() => document.visibilityState === "visible" && again(), EVERY_MS);
    return () => clearInterval(timer);
  }, [unsettled]);
  const leave = () => setDoing(null);
  /** What comes after an attempt: a login, or nothing but looking again. */
  function took(now: Connection, before: Connection = now) {
    setDoing(now.auth_url ? { what: "login", before, url: now.auth_url } : null);
    again();
  }
  async function begin(server: Server, before?: Connection): Promise<void> {
    if (server.auth_method === "static") return setDoing({ what: "credentials", server });
    if (before && server.auth_method === "oauth") return took(await login(before.ref_id), before);
    took(await connect({ server_name: server.server_name }));
  }
  const add = value?.ownServers ? (
    <Button kind="primary" onClick={() => setDoing({ what: "own" })}>
      <Plus size={15} aria-hidden="true" /> Add a server
    </Button>
  ) : null;
  return (
    <Page
      title="Connectors"
      about="Servers that speak the Model Context Protocol. Once you are connected, agents can call their tools; what may run is decided as for any other call."
      actions={add}
    >
      {error ? <Problem error={error} again={again} /> : null}
      {value ? <Lists known={value} begin={begin} again={again} /> : error ? null : <Loading />}
      {doing?.what === "login" ? (
        <LoginDialog
          before={doing.before}
          url={doing.url}
          onLeave={leave}
          onDone={() => {
            leave();
            again();
          }}
        />
      ) : null}
      {doing?.what === "credentials" ? (
        <CredentialsDialog server={doing.server} onLeave={leave} onDone={took} />
      ) : null}
      {doing?.what === "own" ? <OwnServerDialog onLeave={leave} onDone={took} /> : null}
    </Page>
  );
}

interface ListsProps {
  known: Known;
  begin: (server: Server, before?: Connection) => Promise<void>;
  again: () => void;
}

function Lists({ known: { servers, connections, ownServers }, begin, again }: ListsProps) {
  const names = new Set(connections.map((one) => one.server_name));
  const free = servers.filter((server) => !names.has(server.server_name));
  if (servers.length === 0 && connections.length === 0) {
    return (
      <Empty title="No servers yet">
        {ownServers
          ? "Add the address of one of your own, or ask the operator for more."
          : "The operator offers servers as files in the catalog; those appear here, ready to be connected."}
      </Empty>
    );
  }
  return (
    <>
      <Section title="Connected">
        {connections.length ? (
          <Connected connections={connections} servers={servers} begin={begin} again={again} />
        ) : (
          <Empty title="Nothing is connected">Choose a server below to use its tools.</Empty>
        )}
      </Section>
      {free.length ? (
        <Section title="Available">
          <Available servers={free} begin={begin} />
        </Section>
      ) : null}
    </>
  );
}
