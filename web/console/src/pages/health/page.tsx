// Health: how every part of the engine is, read again every few seconds while somebody looks.

import { useEffect } from "preact/hooks";
import { useLoaded } from "../../lib/loaded.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Loading, Page, Problem } from "../../ui/page.tsx";
import { look } from "./health.ts";
import { Models } from "./models.tsx";
import { Parts } from "./parts.tsx";
import { Replicas } from "./replicas.tsx";

const EVERY_MS = 5000;
const WORDS: Record<string, [Tone, string]> = {
  ok: ["good", "Everything works"],
  degraded: ["warn", "Something needs a look"],
  draining: ["bad", "Shutting down"],
};

export default function HealthPage() {
  const state = useLoaded(look, []);
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && state.again(), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const [tone, word] = WORDS[state.value?.health.status ?? ""] ?? ["plain", "…"];
  return (
    <Page
      title="Health"
      about="How the engine and its parts are. Read again every few seconds."
      actions={
        <span role="status">
          <Badge tone={state.error ? "bad" : tone}>{state.error ? "Cannot be reached" : word}</Badge>
        </span>
      }
    >
      {state.error ? <Problem error={state.error} again={state.again} /> : null}
      {state.value ? (
        <>
          <Parts {...state.value} />
          <Models {...state.value} />
          <Replicas {...state.value} />
        </>
      ) : state.error ? null : (
        <Loading />
      )}
    </Page>
  );
}
