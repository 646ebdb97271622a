// What this page asks of the engine.

import type { wire } from "@aster/client";
import { about } from "../../lib/about.ts";
import { engine } from "../../lib/engine.ts";
import type { Connection, Server } from "./states.ts";

export interface Known {
  servers: Server[];
  connections: Connection[];
  ownServers: boolean;
}

export async function known(): Promise<Known> {
  const [servers, connections, facts] = await Promise.all([
    engine.get<Server[]>("/assets/servers"),
    engine.get<Connection[]>("/assets/connections"),
    about(),
  ]);
  return { servers, connections, ownServers: facts.own_servers };
}

const at = (refId: string) => `/assets/connections/${encodeURIComponent(refId)}`;

export const connections = () => engine.get<Connection[]>("/assets/connections");
export const connect = (body: wire.ConnectBody) => engine.post<Connection>("/assets/connect", body);
export const login = (refId: string) => engine.post<Connection>(`${at(refId)}/login`);
export const disconnect = (refId: string) => engine.transport.json<Connection>("DELETE", at(refId));
export const contents = (refId: string) => engine.get<wire.ContentList>(`${at(refId)}/contents`);
export const actions = (refId: string) => engine.get<wire.ActionList>(`${at(refId)}/actions`);
