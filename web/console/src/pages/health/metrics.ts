// The Prometheus text format, read as far as the page needs it: samples with their labels, sums and averages of them.

export interface Sample {
  name: string;
  labels: { [name: string]: string };
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const ESCAPED: Record<string, string> = { "\\n": "\n", '\\"': '"', "\\\\": "\\" };

export function samples(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const found = line.startsWith("#") ? null : LINE.exec(line);
    if (found === null) return [];
    const [, name = "", labels = "", value = ""] = found;
    return [{ name, labels: labelsOf(labels), value: Number(value) }];
  });
}

function labelsOf(text: string): Sample["labels"] {
  const found: Sample["labels"] = {};
  for (const [, name = "", value = ""] of text.matchAll(LABEL))
    found[name] = value.replace(/\\["\\n]/g, (sign) => ESCAPED[sign] ?? sign);
  return found;
}

/** The sum over all samples of a name that have these labels; null when there is none. */
export function sum(all: Sample[], name: string, labels: Sample["labels"] = {}): number | null {
  const wanted = Object.entries(labels);
  const fit = all.filter(
    (one) => one.name === name && wanted.every(([key, value]) => one.labels[key] === value),
  );
  return fit.length ? fit.reduce((total, { value }) => total + value, 0) : null;
}

/** The average of a histogram; null when nothing was measured. */
export function average(all: Sample[], name: string, labels: Sample["labels"] = {}): number | null {
  const many = sum(all, `${name}_count`, labels);
  return many ? (sum(all, `${name}_sum`, labels) ?? 0) / many : null;
}

/** The values a label has, in the order they came. */
export const valuesOf = (all: Sample[], name: string, label: string): string[] => [
  ...new Set(all.filter((one) => one.name === name).flatMap((one) => one.labels[label] ?? [])),
];
