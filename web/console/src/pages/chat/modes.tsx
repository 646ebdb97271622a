import css from "./composer.module.css";

export type Busy = "steer" | "queue" | "interrupt";

const MODES: [Busy, string, string][] = [
  ["steer", "Steer", "Read at the next step of what runs now"],
  ["queue", "Queue", "Its own turn, after this one"],
  ["interrupt", "Interrupt", "Stop what runs now and read this"],
];

/** What becomes of a message that is sent while a turn runs. */
export function Modes({ busy, choose }: { busy: Busy; choose: (mode: Busy) => void }) {
  return (
    <fieldset class={css.modes}>
      <legend class="visually-hidden">What happens to your message while it works</legend>
      {MODES.map(([mode, name, about]) => (
        <label key={mode} class={mode === busy ? css.chosen : undefined} title={about}>
          <input type="radio" name="busy" checked={mode === busy} onChange={() => choose(mode)} />
          {name}
        </label>
      ))}
    </fieldset>
  );
}
