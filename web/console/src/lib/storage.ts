// Small things this browser remembers. It may forbid storage; then they last as long as the page.

const PREFIX = "aster.";
const page = new Map<string, string>();

export function recall(name: string, otherwise: string, store = localStorageOf()): string {
  return page.get(name) ?? store?.getItem(PREFIX + name) ?? otherwise;
}

export function remember(name: string, value: string, store = localStorageOf()): void {
  page.set(name, value);
  try {
    store?.setItem(PREFIX + name, value);
  } catch {
    return;
  }
}

export function forget(name: string, store = localStorageOf()): void {
  page.delete(name);
  store?.removeItem(PREFIX + name);
}

function localStorageOf(): Storage | null {
  try {
    return globalThis.localStorage;
  } catch {
    return null;
  }
}
