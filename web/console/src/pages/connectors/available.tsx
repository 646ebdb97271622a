import { useSending } from "../../lib/sending.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Entry, List } from "../../ui/list.tsx";
import { Problem } from "../../ui/page.tsx";
import { LOGINS, type Server, TRANSPORTS } from "./states.ts";

interface Props {
  servers: Server[];
  begin: (server: Server) => Promise<void>;
}

/** The servers one could connect to. */
export function Available({ servers, begin }: Props) {
  return (
    <List label="Available servers">
      {servers.map((server) => (
        <One key={server.server_name} server={server} begin={begin} />
      ))}
    </List>
  );
}

function One({ server, begin }: { server: Server; begin: Props["begin"] }) {
  const { sending, problem, send } = useSending();
  return (
    <Entry
      name={server.display_name}
      badges={
        <>
          <Badge>{LOGINS[server.auth_method]}</Badge>
          {server.own ? <Badge tone="accent">yours</Badge> : null}
        </>
      }
      about={
        <>
          <code>{server.server_name}</code> · {TRANSPORTS[server.transport]}
        </>
      }
      actions={
        <Button
          size="s"
          disabled={sending}
          aria-label={`Connect ${server.display_name}`}
          onClick={() => void send(() => begin(server))}
        >
          {sending ? "Connecting…" : "Connect"}
        </Button>
      }
    >
      {problem ? <Problem error={problem} /> : null}
    </Entry>
  );
}
