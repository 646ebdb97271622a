// The highlighter, fetched when the first code is shown.

export type Highlighter = Awaited<ReturnType<typeof make>>;

let made: Promise<Highlighter> | null = null;

export function highlighter(): Promise<Highlighter> {
  made ??= make();
  return made;
}

async function make() {
  const { common, createLowlight } = await import("lowlight");
  return createLowlight(common);
}
