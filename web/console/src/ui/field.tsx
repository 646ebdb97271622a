import type {
  ComponentChildren,
  InputHTMLAttributes,
  SelectHTMLAttributes,
  TextareaHTMLAttributes,
} from "preact";
import { useId } from "preact/hooks";
import css from "./field.module.css";

interface About {
  label: string;
  hint?: ComponentChildren;
  error?: string | null;
}

function Framed({ label, hint, error, id, children }: About & { id: string; children: ComponentChildren }) {
  return (
    <div class={css.field}>
      <label for={id}>{label}</label>
      {children}
      {hint && !error ? <p class={css.hint}>{hint}</p> : null}
      {error ? (
        <p class={css.error} role="alert">
          {error}
        </p>
      ) : null}
    </div>
  );
}

export function Input({ label, hint, error, ...rest }: About & InputHTMLAttributes) {
  const id = useId();
  return (
    <Framed {...{ label, hint, error: error ?? null, id }}>
      <input id={id} class={css.input} aria-invalid={Boolean(error)} {...rest} />
    </Framed>
  );
}

export function Textarea({ label, hint, error, ...rest }: About & TextareaHTMLAttributes) {
  const id = useId();
  return (
    <Framed {...{ label, hint, error: error ?? null, id }}>
      <textarea id={id} class={css.input} aria-invalid={Boolean(error)} {...rest} />
    </Framed>
  );
}

export function Select({ label, hint, error, children, ...rest }: About & SelectHTMLAttributes) {
  const id = useId();
  return (
    <Framed {...{ label, hint, error: error ?? null, id }}>
      <select id={id} class={css.input} {...rest}>
        {children}
      </select>
    </Framed>
  );
}
