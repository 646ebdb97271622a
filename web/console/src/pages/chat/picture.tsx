// A picture in the thread: small enough to read on, and whole when it is clicked.

import { useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import css from "./picture.module.css";

export function Picture({ src, name }: { src: string; name: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" class={css.small} title="Show it whole" onClick={() => setOpen(true)}>
        <img alt={name} src={src} />
      </button>
      {open ? (
        <Dialog title={name} wide onLeave={() => setOpen(false)}>
          <img class={css.whole} alt={`${name}, whole`} src={src} />
          <div class={css.foot}>
            <Button autofocus onClick={() => setOpen(false)}>
              Close
            </Button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
