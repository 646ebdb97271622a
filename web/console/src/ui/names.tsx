import { X } from "lucide-preact";
import { useId, useState } from "preact/hooks";
import css from "./names.module.css";

interface Props {
  label: string;
  hint?: string;
  placeholder?: string;
  value: readonly string[];
  /** Names that are known; others can be given too. */
  known?: readonly string[];
  onChange: (names: string[]) => void;
}

/** Several names, given one by one: Enter, a comma or leaving the field takes what was typed. */
export function Names({ label, hint, placeholder, value, known = [], onChange }: Props) {
  const id = useId();
  const [typed, setTyped] = useState("");
  function take(text: string) {
    const given = text.split(/[\s,]+/).filter((name) => name && !value.includes(name));
    setTyped("");
    if (given.length) onChange([...value, ...new Set(given)]);
  }
  return (
    <div class={css.field}>
      <label for={id}>{label}</label>
      <div class={css.box}>
        <ul class={css.chips} aria-label={label}>
          {value.map((name) => (
            <li key={name} class={css.chip}>
              {name}
              <button
                type="button"
                aria-label={`Remove ${name}`}
                onClick={() => onChange(value.filter((other) => other !== name))}
              >
                <X size={12} aria-hidden="true" />
              </button>
            </li>
          ))}
        </ul>
        <input
          id={id}
          class={css.input}
          list={`${id}-known`}
          placeholder={value.length ? "" : placeholder}
          value={typed}
          onInput={(event) => {
            const text = event.currentTarget.value;
            if (/[\s,]$/.test(text)) take(text);
            else setTyped(text);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && typed) {
              event.preventDefault();
              take(typed);
            } else if (event.key === "Backspace" && !typed && value.length) onChange(value.slice(0, -1));
          }}
          onBlur={() => take(typed)}
        />
        <datalist id={`${id}-known`}>
          {known.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
      {hint ? <p class={css.hint}>{hint}</p> : null}
    </div>
  );
}
