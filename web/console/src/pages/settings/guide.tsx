// The first ten minutes: who answers, whether it does, what an agent may see, and three things to try.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation, useSearchParams } from "wouter-preact";
import { about } from "../../lib/about.ts";
import { chatOf } from "../../lib/addresses.ts";
import { engine } from "../../lib/engine.ts";
import { closeGuide } from "../../lib/guide.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { useSending } from "../../lib/sending.ts";
import { refresh } from "../../lib/tasks.ts";
import { Button } from "../../ui/button.tsx";
import { Loading, Page, Problem } from "../../ui/page.tsx";
import { IDEAS } from "../chat/welcome.tsx";
import { Answering } from "./answering.tsx";
import css from "./guide.module.css";
import { ModelCheck } from "./model-check.tsx";
import { Seeing } from "./seeing.tsx";

export function Guide() {
  const [, navigate] = useLocation();
  const engineIs = useLoaded(about, []);
  useEffect(() => closeGuide, []);
  return (
    <Page
      title="Welcome to Aster"
      about="Four short steps, and you are at work. You find them again under Settings."
      actions={<Button onClick={() => navigate("/")}>Skip to the chat</Button>}
    >
      <ol class={css.steps}>
        <Step number={1} title="Who answers">
          <Answering />
        </Step>
        <Step number={2} title="Does it answer?">
          <p>One short question, asked in a real turn. It costs what a short message costs.</p>
          <ModelCheck />
        </Step>
        <Step number={3} title="What the agent may see">
          {engineIs.error ? <Problem error={engineIs.error} again={engineIs.again} /> : null}
          {engineIs.value ? <Seeing about={engineIs.value} /> : engineIs.error ? null : <Loading />}
        </Step>
        <Step number={4} title="Three things to try">
          <Ideas />
        </Step>
      </ol>
    </Page>
  );
}

function Step({ number, title, children }: { number: number; title: string; children: ComponentChildren }) {
  return (
    <li class={css.step}>
      <span class={css.number} aria-hidden="true">
        {number}
      </span>
      <div class={css.body}>
        <h2>{title}</h2>
        {children}
      </div>
    </li>
  );
}

/** The task whose workspace has sample files, when the engine says (by `?sample`) that it has put them there. */
const SAMPLE = "first-steps";

/** Hands a first message over; the chat goes on from there. */
async function begun(message: string, task: string): Promise<string> {
  const leaving = new AbortController();
  const turn = await engine.execute({ task_id: task, message }, { signal: leaving.signal });
  leaving.abort();
  void refresh();
  return turn.taskId;
}

function Ideas() {
  const [, navigate] = useLocation();
  const [query] = useSearchParams();
  const { sending, problem, send } = useSending();
  const place = () => (query.has("sample") ? SAMPLE : `chat-${crypto.randomUUID()}`);
  return (
    <>
      <ul class={css.ideas}>
        {IDEAS.map(({ icon: Icon, title, text }) => (
          <li key={title}>
            <button
              type="button"
              disabled={sending}
              onClick={() => void send(async () => navigate(chatOf(await begun(text, place()))))}
            >
              <Icon size={18} aria-hidden="true" />
              <strong>{title}</strong>
              <span>{text}</span>
            </button>
          </li>
        ))}
      </ul>
      {problem ? <Problem error={problem} /> : null}
    </>
  );
}
