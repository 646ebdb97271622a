// The connections: how each stands and why, what it brings, and what can be done about it.

import { useState } from "preact/hooks";
import { useSending } from "../../lib/sending.ts";
import { plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Confirm } from "../../ui/form.tsx";
import { Entry, List } from "../../ui/list.tsx";
import { Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import { Actions } from "./actions.tsx";
import css from "./connected.module.css";
import { disconnect } from "./routes.ts";
import { againWord, type Connection, LOGINS, type Server, stateOf, TRANSPORTS } from "./states.ts";

interface Props {
  connections: Connection[];
  servers: Server[];
  begin: (server: Server, before: Connection) => Promise<void>;
  again: () => void;
}

export function Connected({ connections, servers, begin, again }: Props) {
  const [ending, setEnding] = useState<Connection | null>(null);
  return (
    <>
      <List label="Connections">
        {connections.map((connection) => (
          <One
            key={connection.ref_id}
            connection={connection}
            server={servers.find((server) => server.server_name === connection.server_name)}
            begin={begin}
            end={() => setEnding(connection)}
          />
        ))}
      </List>
      {ending ? (
        <Confirm
          title={`Disconnect ${ending.server_name}?`}
          submit="Disconnect"
          onLeave={() => setEnding(null)}
          send={async () => {
            await disconnect(ending.ref_id);
            setEnding(null);
            again();
          }}
        >
          Its credentials are deleted and its tools cannot be called any more. A server of your own is
          forgotten altogether.
        </Confirm>
      ) : null}
    </>
  );
}

interface OneProps {
  connection: Connection;
  server: Server | undefined;
  begin: Props["begin"];
  end: () => void;
}

function One({ connection, server, begin, end }: OneProps) {
  const { sending, problem, send } = useSending();
  const [words, tone] = stateOf(connection);
  const word = server ? againWord(server.auth_method, connection) : null;
  const name = server?.display_name ?? connection.server_name;
  const works = tone === "good";
  return (
    <Entry
      name={name}
      badges={
        <>
          <Badge tone={tone}>{words}</Badge>
          {server?.own ? <Badge tone="accent">yours</Badge> : null}
        </>
      }
      about={
        <>
          <code>{connection.server_name}</code>
          {server ? ` · ${TRANSPORTS[server.transport]} · ${LOGINS[server.auth_method]}` : null}
          {connection.updated_at ? (
            <>
              {" · changed "}
              <When iso={connection.updated_at} />
            </>
          ) : null}
        </>
      }
      actions={
        <>
          {word && server ? (
            <Button
              size="s"
              kind={works ? "plain" : "primary"}
              disabled={sending}
              aria-label={`${word}: ${name}`}
              onClick={() => void send(() => begin(server, connection))}
            >
              {word}
            </Button>
          ) : null}
          <Button size="s" kind="quiet" aria-label={`Disconnect ${name}`} onClick={end}>
            Disconnect
          </Button>
        </>
      }
    >
      {problem ? <Problem error={problem} /> : null}
      <Details connection={connection} works={works} />
    </Entry>
  );
}

function Details({ connection, works }: { connection: Connection; works: boolean }) {
  return (
    <>
      {connection.reason ? <p class={`${css.reason} ${works ? "" : css.bad}`}>{connection.reason}</p> : null}
      <Facts
        facts={[
          ["Scopes", connection.scopes.join(" ")],
          ["Login until", connection.expires_at ? <When iso={connection.expires_at} /> : null],
        ]}
      />
      {connection.tools > 0 ? (
        <Actions
          refId={connection.ref_id}
          summary={plural(connection.tools, "action")}
          round={connection.updated_at ?? ""}
        />
      ) : null}
    </>
  );
}
