import { Menu, Plus, WifiOff } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { useFirstVisit } from "../lib/guide.ts";
import { keepNoticing } from "../lib/notices.ts";
import { keepFresh, reachable } from "../lib/tasks.ts";
import { keepTitle } from "../lib/title.ts";
import { IconButton } from "../ui/button.tsx";
import { Help } from "./help.tsx";
import css from "./shell.module.css";
import { useShortcuts } from "./shortcuts.ts";
import { Sidebar } from "./sidebar.tsx";

/** The sidebar and, beside it, the page; on a phone the sidebar slides over it. */
export function Shell({ children }: { children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const [helping, setHelping] = useState(false);
  const [location, navigate] = useLocation();
  useEffect(keepFresh, []);
  useEffect(keepNoticing, []);
  useEffect(keepTitle, []);
  useEffect(() => setOpen(false), [location]);
  useShortcuts(navigate, () => setHelping(true));
  useFirstVisit(location, navigate);
  return (
    <div class={css.shell}>
      <a class={css.skip} href="#main">
        Skip to content
      </a>
      <div class={`${css.side} ${open ? css.open : ""}`}>
        <Sidebar onHelp={() => setHelping(true)} />
      </div>
      {open ? (
        <button type="button" class={css.scrim} aria-label="Close menu" onClick={() => setOpen(false)} />
      ) : null}
      <div class={css.body}>
        <header class={css.top}>
          <IconButton label="Menu" onClick={() => setOpen(true)}>
            <Menu size={18} />
          </IconButton>
          <span class={css.brand}>Aster</span>
          <IconButton label="New chat" onClick={() => navigate("/")}>
            <Plus size={18} />
          </IconButton>
        </header>
        {reachable.value ? null : (
          <div class={css.away} role="status">
            <WifiOff size={14} /> The engine cannot be reached. Nothing is lost; this page goes on by itself.
          </div>
        )}
        <main id="main" class={css.main} tabIndex={-1}>
          {children}
        </main>
      </div>
      {helping ? <Help onLeave={() => setHelping(false)} /> : null}
    </div>
  );
}
