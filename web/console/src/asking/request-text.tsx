// What a person is asked, with everything there is to judge it by: the call itself, why it is asked, what it would do.

import { ExternalLink } from "lucide-preact";
import { safeHref, visible } from "../lib/safe.ts";
import { Highlighted } from "../markdown/code.tsx";
import { Long } from "../markdown/long.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import type { Request } from "./answer-form.tsx";
import { Coded } from "./coded.tsx";
import { formOf } from "./form-fields.tsx";
import css from "./request-text.module.css";
import { PlanText, TeamText } from "./team-text.tsx";

/** Kinds of requests that are settled on another page. */
const ELSEWHERE = new Set(["login", "elicitation"]);

/** The question without the reason or the plan, which stands below it. */
function asked({ kind, question, reason, input }: Request): string {
  const below = kind === "plan_approval" && typeof input?.plan === "string" ? input.plan : reason;
  const rest = below ? question.replace(below, "").trim() : question;
  return visible(rest || question);
}

/** The reason without the effects, which are listed below it. */
function whyAsked({ reason, effects }: Request): string {
  const listed = effects?.length ? `: ${effects.join("; ")}.` : "";
  const rest = listed && reason?.endsWith(listed) ? `${reason.slice(0, -listed.length)}:` : reason;
  return visible(rest ?? "");
}

/** What an agent asks is its own text and may be formatted; what the engine asks is read to the letter. */
function Question({ request }: { request: Request }) {
  if (request.kind === "question") {
    return (
      <div class={css.asked}>
        <Markdown text={asked(request)} />
      </div>
    );
  }
  return (
    <p class={css.question}>
      <Coded text={asked(request)} />
    </p>
  );
}

export function RequestText({ request }: { request: Request }) {
  const { input } = request;
  const why = whyAsked(request);
  const url = typeof input?.url === "string" && ELSEWHERE.has(request.kind) ? safeHref(input.url) : null;
  const shown = input && url === null && formOf(input) === null && request.kind !== "question";
  return (
    <>
      <Question request={request} />
      {why ? (
        <p class={css.reason}>
          Why you are asked: <Coded text={why} />
        </p>
      ) : null}
      {request.effects?.length ? (
        <ul class={css.effects} aria-label="What it would do">
          {request.effects.map((effect) => (
            <li key={effect}>
              <Coded text={visible(effect)} />
            </li>
          ))}
        </ul>
      ) : null}
      {url ? (
        <a class={css.login} href={url} target="_blank" rel="noopener noreferrer">
          {`${request.kind === "login" ? "Log in" : "Open the page"} at ${new URL(url).host}`}
          <ExternalLink size={13} aria-hidden="true" />
        </a>
      ) : null}
      {input && shown ? <Judged kind={request.kind} input={input} /> : null}
    </>
  );
}

/** What there is to be judged, in the way that suits it. */
function Judged({ kind, input }: { kind: Request["kind"]; input: Record<string, unknown> }) {
  if (kind === "team" && Array.isArray(input.members)) return <TeamText input={input} />;
  if (kind === "plan_approval" && typeof input.plan === "string") return <PlanText input={input} />;
  return <Input input={input} />;
}

function Input({ input }: { input: Record<string, unknown> }) {
  const command = typeof input.command === "string" ? input.command : null;
  const language = command === null ? "json" : "bash";
  const text = visible(command ?? JSON.stringify(input, null, 2));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long input is scrolled with the keyboard
    <pre class={css.input} tabIndex={0}>
      <Long text={text} draw={(part) => <Highlighted text={part} language={language} />} />
    </pre>
  );
}
