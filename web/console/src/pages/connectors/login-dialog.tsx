// A login at a server's own page: it opens in another tab, and this waits until the browser has come back to the engine.

import { ExternalLink } from "lucide-preact";
import { useEffect, useState } from "preact/hooks";
import { safeHref } from "../../lib/safe.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Problem } from "../../ui/page.tsx";
import css from "./login-dialog.module.css";
import { connections } from "./routes.ts";
import { type Connection, finished } from "./states.ts";

const EVERY_MS = 1500;

interface Props {
  before: Connection;
  url: string;
  onLeave: () => void;
  onDone: () => void;
}

export function LoginDialog({ before, url, onLeave, onDone }: Props) {
  const [opened, setOpened] = useState(false);
  const href = safeHref(url);
  useEffect(() => {
    const timer = setInterval(() => {
      void connections().then(
        (all) => {
          const now = all.find((one) => one.ref_id === before.ref_id);
          if (now && finished(before, now)) onDone();
        },
        () => undefined,
      );
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [before.ref_id]);
  return (
    <Dialog title={`Log in to ${before.server_name}`} onLeave={onLeave}>
      <div class={css.login}>
        {href ? (
          <>
            <p>The server has a login page of its own. Open it, say yes there, and come back.</p>
            <a
              class={css.link}
              href={href}
              target="_blank"
              rel="noopener noreferrer"
              onClick={() => setOpened(true)}
            >
              Log in at {new URL(href).host} <ExternalLink size={14} aria-hidden="true" />
            </a>
            <p class={css.waiting} role="status">
              {opened
                ? "Waiting until you have logged in…"
                : "This page notices by itself when you are done."}
            </p>
          </>
        ) : (
          <Problem error="The server's login page has an address that a browser should not open." />
        )}
        <div class={css.buttons}>
          <Button kind="quiet" onClick={onLeave}>
            Later
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
