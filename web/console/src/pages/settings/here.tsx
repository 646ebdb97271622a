// What this browser keeps: how the console looks, whether it gives notices, and the key.

import { LogOut } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { leave } from "../../lib/engine.ts";
import { noticeable, noticing, wantNotices } from "../../lib/notices.ts";
import { type Theme, theme } from "../../lib/theme.ts";
import { Button } from "../../ui/button.tsx";
import { Segments } from "../../ui/segments.tsx";
import css from "./here.module.css";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];

export function Here() {
  return (
    <>
      <Line title="Theme" about="Light, dark, or as the system has it.">
        <Segments
          label="Theme"
          value={theme.value}
          options={THEMES}
          onChoose={(chosen) => {
            theme.value = chosen;
          }}
        />
      </Line>
      <Line
        title="Notices"
        about={
          noticeable.value
            ? "The browser tells you when something waits for you, also while you look at another page."
            : "This browser does not let the page give notices; its own settings decide that."
        }
      >
        <Segments
          label="Notices"
          value={noticing.value ? "on" : "off"}
          options={[
            ["off", "Off"],
            ["on", "On"],
          ]}
          onChoose={(chosen) => void wantNotices(chosen === "on")}
        />
      </Line>
      <Line title="Key" about="It is kept in this browser and sent to this engine only.">
        <Button onClick={leave}>
          <LogOut size={14} /> Sign out
        </Button>
      </Line>
    </>
  );
}

function Line({ title, about, children }: { title: string; about: string; children: ComponentChildren }) {
  return (
    <div class={css.line}>
      <div>
        <h3>{title}</h3>
        <p>{about}</p>
      </div>
      {children}
    </div>
  );
}
