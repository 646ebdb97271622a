// Who answers: a model on this machine with how far its download is, a provider, or the built-in script.

import type { wire } from "@aster/client";
import { useEffect } from "preact/hooks";
import { engine } from "../../lib/engine.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { bytes } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Loading, Problem } from "../../ui/page.tsx";
import css from "./answering.module.css";

const EVERY_MS = 2000;
type Llm = wire.Subsystem & { [fact: string]: unknown };
const word = (value: unknown): string => (value === null || value === undefined ? "" : String(value));

export function Answering() {
  const health = useLoaded(engine.health, []);
  const llm = (health.value?.subsystems.llm ?? null) as Llm | null;
  const waiting = llm?.stage !== undefined && llm.stage !== "ready";
  useEffect(() => {
    if (!waiting) return;
    const timer = setInterval(health.again, EVERY_MS);
    return () => clearInterval(timer);
  }, [waiting]);
  if (health.error) return <Problem error={health.error} again={health.again} />;
  if (llm === null) return <Loading />;
  return (
    <div class={css.answering}>
      <p class={css.who}>
        <strong>{word(llm.model)}</strong>
        <Badge tone={llm.ok ? "good" : "bad"}>
          {llm.ok ? (WORDS[word(llm.stage)] ?? "set up") : "problem"}
        </Badge>
      </p>
      <p>{sentence(word(llm.provider))}</p>
      {waiting ? <Progress llm={llm} /> : null}
      {llm.problem ? <Problem error={word(llm.problem)} again={health.again} /> : null}
      <details class={css.other}>
        <summary>Let another model answer</summary>
        <p>
          Set these in the environment or in <code>.env</code>, then start the engine again.
        </p>
        <pre class={css.code}>{OTHERS}</pre>
      </details>
    </div>
  );
}

const OTHERS = `LLM_PROVIDER=anthropic            # or openai, gemini
LLM_MODEL=…
LLM_API_KEY=…

LLM_PROVIDER=openai_compatible    # Ollama, vLLM, llama.cpp
LLM_BASE_URL=http://127.0.0.1:11434/v1
LLM_MODEL=qwen3`;

const WORDS: Record<string, string> = { ready: "ready" };

function sentence(provider: string): string {
  if (provider === "local")
    return "A small open model runs on this machine: no account, nothing leaves it. It is good for a try, not for hard work.";
  if (provider === "demo")
    return "A built-in script stands in a model's place. It shows how everything works, and understands nothing.";
  return `Messages go to ${provider}, with the key that was set for it.`;
}

function Progress({ llm }: { llm: Llm }) {
  const [done, total] = [Number(llm.done_bytes ?? 0), Number(llm.total_bytes ?? 0)];
  return (
    <div class={css.progress} role="status">
      <p>{word(llm.text)}</p>
      {total ? (
        <>
          <Meter label="Download of the model" value={done / total} />
          <p class={css.faint}>
            {bytes(done)} of {bytes(total)}
          </p>
        </>
      ) : null}
    </div>
  );
}
