import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import css from "./dialog.module.css";

interface Props {
  title: string;
  children: ComponentChildren;
  /** Called when it is left without an answer; without it, it cannot be left. */
  onLeave?: () => void;
  wide?: boolean;
}

/** A modal dialog of the browser's own: focus stays inside, Escape leaves it. */
export function Dialog({ title, children, onLeave, wide = false }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = element.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={`${css.dialog} ${wide ? css.wide : ""}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onLeave?.();
      }}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}
