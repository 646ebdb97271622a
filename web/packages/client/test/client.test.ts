// @vitest-environment node
import { afterEach, describe, expect, it } from "vitest";
import { AsterClient, type AsterEvent, EngineError } from "../src/index.ts";
import { delta, json, over, Scripted, stream } from "./scripted.ts";

let engine = new Scripted();
afterEach(() => engine.stop());

async function scripted(...answers: Parameters<Scripted["start"]>): Promise<AsterClient> {
  engine = await new Scripted().start(...answers);
  return new AsterClient({ baseUrl: engine.url, key: "k" });
}

async function all(events: AsyncIterable<AsterEvent>): Promise<AsterEvent[]> {
  const found: AsterEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

const seqs = (events: AsterEvent[]) => events.map((event) => event.seq);

describe("execute", () => {
  it("gives the ids at once and the events to the end of the turn", async () => {
    const client = await scripted(stream([delta(1, "Hi"), over(2), delta(3, "of another turn")]));
    const turn = await client.execute({ message: "hello", task_id: "t1" });
    expect([turn.taskId, turn.turnId, turn.messageId]).toEqual(["t1", "u1", "m1"]);
    expect(seqs(await all(turn))).toEqual([1, 2]);
    expect(JSON.parse(engine.seen[0]?.body ?? "")).toEqual({ message: "hello", task_id: "t1" });
    expect(engine.seen[0]?.headers["x-engine-key"]).toBe("k");
  });

  it("takes up again where the connection broke, without gaps or doubles", async () => {
    const states: string[] = [];
    const client = await scripted(
      stream([delta(1, "a"), delta(2, "b")], "break"),
      json(503, { error: "DRAINING", message: "Come back." }),
      stream([delta(2, "b"), delta(3, "c")], "break"),
      stream([{ type: "reconnect", seq: 0, retry_ms: 1 }]),
      stream([delta(4, "d"), over(5)]),
    );
    const turn = await client.execute(
      { task_id: "t1", message: "x" },
      { onConnection: (state) => states.push(state) },
    );
    expect(seqs(await all(turn))).toEqual([1, 2, 3, 4, 5]);
    expect(engine.seen.slice(1).map((one) => [one.path, one.headers["last-event-id"]])).toEqual([
      ["/execute/replay?task_id=t1", "2"],
      ["/execute/replay?task_id=t1", "2"],
      ["/execute/replay?task_id=t1", "3"],
      ["/execute/replay?task_id=t1", "3"],
    ]);
    expect(states).toEqual(["live", "lost", "lost", "live", "lost", "live", "lost", "live"]);
  });

  it("answers what a turn asks through the callback", async () => {
    const question = { type: "hitl_request", seq: 1, request_id: "r1", kind: "question", question: "Which?" };
    const client = await scripted(stream([question, over(2)]), json(200, { status: "resumed" }));
    const turn = await client.execute(
      { task_id: "t1", message: "x" },
      { onRequest: async (request) => ({ request_id: request.request_id, answer: "blue" }) },
    );
    await all(turn);
    const { path, body } = engine.seen[1] ?? { path: "", body: "{}" };
    expect([path, JSON.parse(body)]).toEqual(["/hitl/respond", { request_id: "r1", answer: "blue" }]);
  });

  it("rejects with the engine's own code and sentence", async () => {
    const client = await scripted(
      json(402, { error: "BUDGET_EXCEEDED", message: "Spent.", details: { limit: 1 } }),
    );
    const refused = await client.execute({ task_id: "t1", message: "x" }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(EngineError);
    expect(refused).toMatchObject({
      code: "BUDGET_EXCEEDED",
      status: 402,
      details: { limit: 1 },
      passing: false,
    });
  });

  it("says that nobody is there", async () => {
    const client = await scripted();
    await engine.stop();
    const refused = (await client
      .execute({ task_id: "t1", message: "x" })
      .catch((error: unknown) => error)) as EngineError;
    expect([refused.code, refused.passing]).toEqual(["UNREACHABLE", true]);
    await engine.start();
  });
});

describe("watch", () => {
  it("goes on from a place until it is left", async () => {
    const client = await scripted(stream([delta(8, "a"), over(9)]), stream([delta(10, "b")]));
    const found: number[] = [];
    for await (const event of client.watch("t1", 7)) {
      found.push(event.seq);
      if (event.seq === 10) break;
    }
    expect(found).toEqual([8, 9, 10]);
    expect(engine.seen.map((one) => one.headers["last-event-id"])).toEqual(["7", "9"]);
  });

  it("ends quietly when the signal is raised", async () => {
    const leaving = new AbortController();
    const client = await scripted((response) => {
      response.writeHead(200).write(": waiting\n\n");
      leaving.abort();
    });
    expect(await all(client.watch("t1", 0, { signal: leaving.signal }))).toEqual([]);
  });

  it("does not go on asking when the task is not there", async () => {
    const client = await scripted(json(404, { error: "TASK_NOT_FOUND", message: "No." }));
    await expect(all(client.watch("t1"))).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
    expect(engine.seen).toHaveLength(1);
  });
});

describe("the key", () => {
  it("is asked for once for all who wait, with the reason", async () => {
    const refusal = json(401, { error: "INVALID_KEY", message: "Wrong key." });
    engine = await new Scripted().start(
      refusal,
      refusal,
      json(200, { tasks: [] }),
      json(200, { pending: [] }),
    );
    const asked: (string | null)[] = [];
    const askKey = async (sentence: string | null) => {
      asked.push(sentence);
      return "good";
    };
    const client = new AsterClient({ baseUrl: engine.url, key: "bad", askKey });
    await Promise.all([client.tasks(), client.pending()]);
    expect(asked).toEqual(["Wrong key."]);
    expect(engine.seen.map((one) => one.headers["x-engine-key"])).toEqual(["bad", "bad", "good", "good"]);
  });
});
