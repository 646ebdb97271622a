import css from "./segments.module.css";

interface Props<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChoose: (value: T) => void;
}

/** A few choices of which one holds, side by side. */
export function Segments<T extends string>({ label, value, options, onChoose }: Props<T>) {
  return (
    <fieldset class={css.segments} aria-label={label}>
      {options.map(([name, title]) => (
        <button
          key={name}
          type="button"
          class={css.segment}
          aria-pressed={name === value}
          onClick={() => onChoose(name)}
        >
          {title}
        </button>
      ))}
    </fieldset>
  );
}
