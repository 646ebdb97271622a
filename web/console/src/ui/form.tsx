import type { ComponentChildren } from "preact";
import { useSending } from "../lib/sending.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import css from "./form.module.css";
import { Problem } from "./page.tsx";

interface Props {
  /** What the button that sends it says. */
  submit: string;
  send: () => Promise<unknown>;
  children: ComponentChildren;
  onLeave?: (() => void) | undefined;
  ready?: boolean;
  danger?: boolean;
  leave?: string;
}

/** Fields, what went wrong, and the buttons that send them or leave them. */
export function Form({
  submit,
  send: work,
  children,
  onLeave,
  ready = true,
  danger,
  leave = "Cancel",
}: Props) {
  const { sending, problem, send } = useSending();
  return (
    <form
      class={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) void send(work);
      }}
    >
      {children}
      {problem ? <Problem error={problem} /> : null}
      <div class={css.buttons}>
        {onLeave ? (
          <Button kind="quiet" autofocus={danger ?? false} onClick={onLeave}>
            {leave}
          </Button>
        ) : null}
        <Button kind={danger ? "danger" : "primary"} type="submit" disabled={sending || !ready}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

/** Fields that stand side by side where there is room. */
export function Pair({ children }: { children: ComponentChildren }) {
  return <div class={css.pair}>{children}</div>;
}

interface ConfirmProps {
  title: string;
  children: ComponentChildren;
  submit: string;
  send: () => Promise<unknown>;
  onLeave: () => void;
}

/** Asks before something is done that cannot be undone; not doing it has the focus. */
export function Confirm({ title, children, ...rest }: ConfirmProps) {
  return (
    <Dialog title={title} onLeave={rest.onLeave}>
      <Form danger leave="Keep it" {...rest}>
        <p>{children}</p>
      </Form>
    </Dialog>
  );
}
