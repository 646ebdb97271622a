// The credentials a server wants from whoever connects it. They are sent once, kept encrypted, and never shown again.

import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog.tsx";
import { Input } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { connect } from "./routes.ts";
import type { Connection, Server } from "./states.ts";

interface Props {
  server: Server;
  onLeave: () => void;
  onDone: (connection: Connection) => void;
}

const USUAL = "Authorization";

/** What was typed, where this server looks for it. */
export function credentialsOf(server: Server, given: Record<string, string>): wire.CredentialsBody {
  const filled = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
  return server.transport === "stdio" ? { environment: filled } : { headers: filled };
}

export function CredentialsDialog({ server, onLeave, onDone }: Props) {
  const names = server.asks.length ? server.asks : [USUAL];
  const [given, setGiven] = useState<Record<string, string>>({});
  return (
    <Dialog title={`Connect ${server.display_name}`} onLeave={onLeave}>
      <Form
        submit="Connect"
        onLeave={onLeave}
        ready={names.some((name) => given[name])}
        send={async () =>
          onDone(
            await connect({ server_name: server.server_name, credentials: credentialsOf(server, given) }),
          )
        }
      >
        {names.map((name, at) => (
          <Input
            key={name}
            label={name}
            type="password"
            autocomplete="off"
            autofocus={at === 0}
            value={given[name] ?? ""}
            hint={name === USUAL ? "As the server wants it, often “Bearer …”" : undefined}
            onInput={(event) => {
              const { value } = event.currentTarget;
              setGiven((was) => ({ ...was, [name]: value }));
            }}
          />
        ))}
        <p>Kept encrypted, used for this server alone, and shown to nobody again.</p>
      </Form>
    </Dialog>
  );
}
