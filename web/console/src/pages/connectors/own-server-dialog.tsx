// A server of one's own, by its address.

import { useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog.tsx";
import { Input, Select } from "../../ui/field.tsx";
import { Form, Pair } from "../../ui/form.tsx";
import { connect } from "./routes.ts";
import { type Connection, LOGINS, type Server } from "./states.ts";

interface Props {
  onLeave: () => void;
  onDone: (connection: Connection) => void;
}

export function OwnServerDialog({ onLeave, onDone }: Props) {
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [transport, setTransport] = useState("http");
  const [method, setMethod] = useState<Server["auth_method"]>("none");
  const [header, setHeader] = useState("Authorization");
  const [secret, setSecret] = useState("");
  const keyed = method === "static";
  async function send() {
    const config = { url: url.trim(), transport, auth_method: method };
    const credentials = keyed ? { headers: { [header.trim()]: secret } } : null;
    onDone(await connect({ server_name: name.trim(), server_config: config, credentials }));
  }
  return (
    <Dialog title="Add a server" onLeave={onLeave}>
      <Form
        submit="Connect"
        onLeave={onLeave}
        ready={Boolean(name.trim() && url.trim() && (!keyed || (header.trim() && secret)))}
        send={send}
      >
        <Input
          label="Name"
          autofocus
          value={name}
          hint="Its tools are called name.action."
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <Input
          label="Address"
          type="url"
          placeholder="https://example.com/mcp"
          value={url}
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
        <Pair>
          <Select
            label="Speaks"
            value={transport}
            onChange={(event) => setTransport(event.currentTarget.value)}
          >
            <option value="http">Streamable HTTP</option>
            <option value="sse">Server-sent events</option>
          </Select>
          <Select
            label="Login"
            value={method}
            onChange={(event) => setMethod(event.currentTarget.value as Server["auth_method"])}
          >
            {Object.entries(LOGINS).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </Select>
        </Pair>
        {keyed ? (
          <Pair>
            <Input label="Header" value={header} onInput={(event) => setHeader(event.currentTarget.value)} />
            <Input
              label="Value"
              type="password"
              autocomplete="off"
              value={secret}
              onInput={(event) => setSecret(event.currentTarget.value)}
            />
          </Pair>
        ) : null}
      </Form>
    </Dialog>
  );
}
