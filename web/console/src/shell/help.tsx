// Every key that does something, in one place; the key for it is `?`.

import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Keys } from "../ui/keys.tsx";
import css from "./help.module.css";
import { PAGES } from "./pages.ts";

type Line = readonly [keys: readonly string[], what: string];

const WRITING: readonly Line[] = [
  [["Enter"], "Send"],
  [["Shift", "Enter"], "A new line"],
  [["Esc"], "Stop what runs, when nothing is written"],
];
const INBOX: readonly Line[] = [
  [["j", "k"], "Next, previous"],
  [["y", "n"], "Allow, refuse"],
  [["1", "…", "9"], "Choose an answer"],
  [["Enter"], "Write an answer"],
  [["o"], "Open the chat"],
];
const ANYWHERE: readonly Line[] = [
  [["/"], "To the search, or to the message"],
  [["?"], "This list"],
];

export function Help({ onLeave }: { onLeave: () => void }) {
  const places = PAGES.map(({ key, title, path }): Line => [["g", key], path === "/" ? "New chat" : title]);
  return (
    <Dialog title="Keyboard shortcuts" wide onLeave={onLeave}>
      <div class={css.groups}>
        <Group title="Go to" lines={places} />
        <div class={css.column}>
          <Group title="Anywhere" lines={ANYWHERE} />
          <Group title="In the message" lines={WRITING} />
          <Group title="In the inbox" lines={INBOX} />
        </div>
      </div>
      <div class={css.foot}>
        <Button autofocus onClick={onLeave}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

function Group({ title, lines }: { title: string; lines: readonly Line[] }) {
  return (
    <section>
      <h3 class={css.title}>{title}</h3>
      <dl class={css.lines}>
        {lines.map(([keys, what]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              <Keys names={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
