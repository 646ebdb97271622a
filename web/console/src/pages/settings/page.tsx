// Settings: what this browser keeps (theme, notices, key), what the engine runs with, and the way back to the guide.

import { useLocation } from "wouter-preact";
import { GUIDE } from "../../lib/guide.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { EngineCards } from "./engine-cards.tsx";
import { Guide } from "./guide.tsx";
import { Here } from "./here.tsx";
import css from "./page.module.css";

export default function SettingsPage() {
  const [location, navigate] = useLocation();
  if (location === GUIDE) return <Guide />;
  return (
    <Page
      title="Settings"
      about="What this browser remembers, and what the engine runs with."
      actions={<Button onClick={() => navigate(GUIDE)}>Open the guide</Button>}
    >
      <div class={css.columns}>
        <Card title="This browser">
          <Here />
        </Card>
        <EngineCards />
      </div>
    </Page>
  );
}
