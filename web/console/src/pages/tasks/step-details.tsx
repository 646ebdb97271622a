// An opened step: what was sent on the one side, what came on the other.

import type { wire } from "@aster/client";
import { ArrowLeftRight, History, RotateCcw } from "lucide-preact";
import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { engine } from "../../lib/engine.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { visible } from "../../lib/safe.ts";
import { duration } from "../../lib/words.ts";
import { Highlighted } from "../../markdown/code.tsx";
import { Long } from "../../markdown/long.tsx";
import { Markdown } from "../../markdown/markdown.tsx";
import { Loading, Problem } from "../../ui/page.tsx";
import { againFrom } from "./again-routes.ts";
import { callPath } from "./context-routes.ts";
import { Manifest } from "./manifest.tsx";
import css from "./step-details.module.css";
import type { AgentStep, ModelStep, Remark, Step, ToolStep, WaitStep } from "./steps.ts";

export function StepDetails({ taskId, step }: { taskId: string; step: Exclude<Step, Remark> }) {
  return (
    <>
      <div class={css.links}>
        <Link href={`${taskOf(taskId, "replay")}?seq=${step.seq}`}>
          <History size={13} aria-hidden="true" /> Replay to here
        </Link>
        <Link href={againFrom(taskId, step.seq)}>
          <RotateCcw size={13} aria-hidden="true" /> Run again from here
        </Link>
        {step.kind === "model" && step.call !== null ? (
          <Link href={`${taskOf(taskId, "context")}?to=${step.call}`}>
            <ArrowLeftRight size={13} aria-hidden="true" /> Compare with the call before
          </Link>
        ) : null}
        {step.kind === "agent" && step.childTaskId ? (
          <Link href={taskOf(step.childTaskId)}>Its whole thread</Link>
        ) : null}
      </div>
      <Body taskId={taskId} step={step} />
    </>
  );
}

function Body({ taskId, step }: { taskId: string; step: Exclude<Step, Remark> }) {
  switch (step.kind) {
    case "model":
      return <Model taskId={taskId} step={step} />;
    case "tool":
      return <Tool step={step} />;
    case "wait":
      return <Wait step={step} />;
    default:
      return <Child step={step} />;
  }
}

function Model({ taskId, step }: { taskId: string; step: ModelStep }) {
  const { usage } = step;
  const facts = usage && [
    usage.model,
    usage.endpoint,
    usage.first_token_ms == null ? "" : `first token after ${duration(usage.first_token_ms)}`,
    `stopped: ${usage.stop_reason.replaceAll("_", " ")}`,
    usage.estimated ? "tokens estimated" : "",
  ];
  return (
    <div class={css.sides}>
      <section class={css.side} aria-label="What was sent">
        <h3>Sent</h3>
        {step.call === null ? (
          <p class={css.none}>No manifest was kept of this call.</p>
        ) : (
          <Sent {...{ taskId, call: step.call }} />
        )}
      </section>
      <section class={css.side} aria-label="What came">
        <h3>Came</h3>
        {facts ? <p class={css.facts}>{facts.filter(Boolean).join(" · ")}</p> : null}
        {step.blocks.length === 0 ? <p class={css.none}>Nothing.</p> : null}
        {step.blocks.map((block, at) => (
          <Block key={at} block={block} />
        ))}
      </section>
    </div>
  );
}

function Sent({ taskId, call }: { taskId: string; call: number }) {
  const found = useLoaded(() => engine.get<wire.ContextCallDetail>(callPath(taskId, call)), [taskId, call]);
  if (found.error) return <Problem {...found} />;
  return found.value ? <Manifest call={found.value} /> : <Loading />;
}

function Block({ block }: { block: ModelStep["blocks"][number] }) {
  if (block.type === "text") return <Words text={block.text} />;
  if (block.type === "thinking")
    return block.text ? (
      <p class={css.thought}>
        <Long text={block.text} />
      </p>
    ) : null;
  return (
    <>
      <p class={css.facts}>{`Calls ${block.name}`}</p>
      <Pre text={JSON.stringify(block.input, null, 2)} language="json" />
    </>
  );
}

function Tool({ step }: { step: ToolStep }) {
  const { result } = step;
  return (
    <div class={css.sides}>
      <section class={css.side} aria-label="What was sent">
        <h3>Sent</h3>
        <Pre text={JSON.stringify(step.input, null, 2)} language="json" />
      </section>
      <section class={css.side} aria-label="What came">
        <h3>Came</h3>
        {result?.error ? <p class={css.failed}>{result.error.replaceAll("_", " ")}</p> : null}
        {result ? <Pre text={result.output} language="" /> : <p class={css.none}>No result yet.</p>}
      </section>
    </div>
  );
}

function Wait({ step }: { step: WaitStep }) {
  return (
    <section class={css.side}>
      <p class={css.said}>
        <Long text={step.request.question} />
      </p>
      {step.request.input ? <Pre text={JSON.stringify(step.request.input, null, 2)} language="json" /> : null}
      <p class={css.facts}>{step.answer === null ? "Not answered." : `Answered: ${step.answer}`}</p>
      {step.feedback ? <p class={css.said}>{step.feedback}</p> : null}
    </section>
  );
}

function Child({ step }: { step: AgentStep }) {
  return (
    <section class={css.side}>
      <p class={css.said}>{step.description}</p>
      {step.result ? <Words text={step.result} /> : null}
    </section>
  );
}

function Words({ text }: { text: string }) {
  return <Long text={text} draw={(shown) => <Markdown text={shown} />} />;
}

function Pre({ text, language }: { text: string; language: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long text is scrolled with the keyboard
    <pre class={css.pre} tabIndex={0}>
      <Long text={text} draw={(shown) => <Highlighted text={visible(shown)} language={language} />} />
    </pre>
  );
}
