import css from "./keys.module.css";

/** Keys as they are printed on a keyboard. */
export function Keys({ names }: { names: readonly string[] }) {
  return (
    <span class={css.keys}>
      {names.map((name) => (
        <kbd key={name}>{name}</kbd>
      ))}
    </span>
  );
}
