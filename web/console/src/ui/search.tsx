import { Search as Glass } from "lucide-preact";
import type { ComponentChildren } from "preact";
import css from "./search.module.css";

interface Props {
  label: string;
  /** What can be searched for, where the label says less. */
  hint?: string;
  value: string;
  onSearch: (words: string) => void;
  /** What else narrows the list, beside the field. */
  children?: ComponentChildren;
}

/** A field that narrows a list while it is typed into. */
export function Search({ label, hint = label, value, onSearch, children }: Props) {
  return (
    <div class={css.tools}>
      <label class={css.search}>
        <Glass size={15} aria-hidden="true" />
        <span class="visually-hidden">{label}</span>
        <input
          type="search"
          data-primary-field
          placeholder={hint}
          value={value}
          onInput={(event) => onSearch(event.currentTarget.value)}
        />
      </label>
      {children}
    </div>
  );
}
