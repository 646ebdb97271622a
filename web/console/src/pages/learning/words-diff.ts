// Two sentences held against each other, word by word: what stayed, what went, what came.

import { diffWordsWithSpace } from "diff";

const MOST_CHARS = 4000;
/** Below this share of common text two sentences are not versions of one another. */
const LEAST_COMMON = 0.3;

export interface Piece {
  text: string;
  changed: boolean;
}

export interface Compared {
  before: Piece[];
  after: Piece[];
}

const whole = (text: string): Piece[] => (text ? [{ text, changed: false }] : []);

export function compared(before: string, after: string): Compared {
  const apart = { before: whole(before), after: whole(after) };
  if (!before || !after || before.length + after.length > MOST_CHARS) return apart;
  const parts = diffWordsWithSpace(before, after);
  const common = parts.filter(({ added, removed }) => !(added || removed));
  const share = common.reduce((sum, { value }) => sum + value.trim().length, 0);
  if (share < LEAST_COMMON * Math.min(before.length, after.length)) return apart;
  return {
    before: parts
      .filter(({ added }) => !added)
      .map(({ value, removed }) => ({ text: value, changed: removed })),
    after: parts
      .filter(({ removed }) => !removed)
      .map(({ value, added }) => ({ text: value, changed: added })),
  };
}
