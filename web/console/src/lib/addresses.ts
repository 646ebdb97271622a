// Where things are in the console. An id may hold any character.

export const chatOf = (taskId: string): string => `/chat/${encodeURIComponent(taskId)}`;
export const taskOf = (taskId: string, view = ""): string =>
  `/tasks/${encodeURIComponent(taskId)}${view ? `/${view}` : ""}`;

/** An id as it stands in an address. */
export function idIn(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
