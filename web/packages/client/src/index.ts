// Talk to an Aster engine: `for await (const event of client.execute({ message }))`.

export { AsterClient, type Execute, type Turn } from "./client.ts";
export { EngineError } from "./errors.ts";
export {
  type AsterEvent,
  type Connection,
  ends,
  follow,
  Patience,
  pause,
  received,
  replay,
  SILENCE_MS,
} from "./events.ts";
export { frames, type SseFrame, SseParser } from "./sse.ts";
export { type Call, type Options, type Query, Transport } from "./transport.ts";
export type * as wire from "./wire.ts";
