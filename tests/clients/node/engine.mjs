// Where the engine is; the program that starts the suites says so.
export const url = `${process.env.ASTER_URL}/v1`;
export const key = process.env.ASTER_KEY;
export const talk = "Hello, this is a plain answer with several words in it.";
export const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export async function tasks() {
  const answer = await fetch(`${process.env.ASTER_URL}/tasks?limit=200`, { headers: { "X-Engine-Key": key } });
  return (await answer.json()).tasks;
}
