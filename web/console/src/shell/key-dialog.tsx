import { useState } from "preact/hooks";
import { asking } from "../lib/engine.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Input } from "../ui/field.tsx";
import css from "./key-dialog.module.css";

/** Asks for the key whenever the engine does. */
export function KeyDialog() {
  const [key, setKey] = useState("");
  const asked = asking.value;
  if (asked === null) return null;
  return (
    <Dialog title="Sign in">
      <form
        class={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim()) asked.give(key.trim());
          setKey("");
        }}
      >
        <Input
          label="Key"
          type="password"
          autocomplete="current-password"
          autofocus
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          error={asked.sentence}
          hint={
            <>
              The engine printed it when it started; <code>aster keys create NAME</code> makes another. It
              stays in this browser and is sent to this engine only.
            </>
          }
        />
        <Button kind="primary" type="submit">
          Sign in
        </Button>
      </form>
    </Dialog>
  );
}
