import { expect, test } from "vitest";
import { credentialsOf } from "../src/pages/connectors/credentials-dialog.tsx";
import { againWord, finished, stateOf } from "../src/pages/connectors/states.ts";

const connection = (status: string, more: { resting?: boolean; updated_at?: string } = {}) => ({
  ...{ ref_id: "c", server_name: "s", scopes: [], expires_at: null, tools: 0, reason: null, updated_at: "1" },
  ...{ status, ...more },
});

test("a server that is left alone after failures says so, whatever it was", () => {
  expect(stateOf(connection("connected"))).toEqual(["connected", "good"]);
  expect(stateOf(connection("connected", { resting: true }))[1]).toBe("warn");
  expect(stateOf(connection("something new"))).toEqual(["something new", "plain"]);
});

test("what can be done again depends on the login", () => {
  expect(againWord("oauth", connection("pending_oauth"))).toBe("Log in");
  expect(againWord("oauth", connection("connected"))).toBe("Log in again");
  expect(againWord("static", connection("expired"))).toBe("Replace the key");
  expect(againWord("none", connection("connected"))).toBeNull();
  expect(againWord("none", connection("connected", { resting: true }))).toBe("Try again");
});

test("a login is finished when the connection is another than it was", () => {
  const before = connection("connected");
  expect(finished(before, connection("connected"))).toBe(false);
  expect(finished(before, connection("connected", { updated_at: "2" }))).toBe(true);
  expect(finished(before, connection("failed", { updated_at: "2" }))).toBe(true);
  expect(finished(before, connection("pending_oauth", { updated_at: "2" }))).toBe(false);
});

test("credentials go where the server looks for them, without what was left empty", () => {
  const server = {
    ...{ server_name: "s", display_name: "S", own: false, asks: ["A", "B"] },
    auth_method: "static" as const,
  };
  expect(credentialsOf({ ...server, transport: "stdio" }, { A: "1", B: "" })).toEqual({
    environment: { A: "1" },
  });
  expect(credentialsOf({ ...server, transport: "http" }, { A: "1" })).toEqual({ headers: { A: "1" } });
});
