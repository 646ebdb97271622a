// A request to a person: approve or refuse a call, answer a question, settle what became of a call that a restart cut off.
// The same form in the chat and in the inbox. Nothing is sent but by a button or Enter in the field.

import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { engine } from "../lib/engine.ts";
import { refresh } from "../lib/tasks.ts";
import { Button } from "../ui/button.tsx";
import css from "./answer-form.module.css";
import { FormFields, formOf } from "./form-fields.tsx";

export type Request = Pick<
  wire.HitlRequest,
  "request_id" | "kind" | "question" | "tool" | "input" | "reason"
> & {
  options?: string[] | null;
  offer?: { tool?: unknown; pattern?: unknown } | null;
  effects?: string[];
};

const YES = "yes";
const LASTING = /^always /;
const NAMES: Record<string, string> = {
  yes: "Allow",
  no: "Refuse",
  "always task": "Always in this task",
  "always agent": "Always for this agent",
  "always everywhere": "Always",
  done: "It finished",
  again: "Run it again",
  skip: "Leave it",
  accept: "I have been there",
  decline: "Decline",
  cancel: "Cancel",
};
/** What an answer is called where it means something of its own. */
const NAMED: Record<string, Record<string, string>> = {
  budget: { yes: "Go on", no: "Stop here" },
  login: { done: "I have logged in", no: "Not now" },
};
const CHOICES: Record<string, string[]> = { permission: ["yes", "no"], budget: ["yes", "no"] };

export function AnswerForm({ request, focus = false }: { request: Request; focus?: boolean }) {
  const [words, setWords] = useState("");
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  async function say(answer: string, feedback?: string) {
    setSending(true);
    setProblem(null);
    try {
      await engine.respond({ request_id: request.request_id, answer, ...(feedback && { feedback }) });
      void refresh();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setSending(false);
    }
  }
  const schema = request.kind === "elicitation" ? formOf(request.input) : null;
  if (schema !== null) {
    return (
      <>
        <FormFields schema={schema} sending={sending} say={(answer) => void say(answer)} />
        <Refused problem={problem} />
      </>
    );
  }
  const free = request.kind === "question";
  const options = choices(request);
  return (
    <form
      class={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (free && words.trim()) void say(words.trim());
      }}
    >
      <div class={css.row}>
        {options.map((name, at) => (
          <Button
            key={name}
            kind={at === 0 && !free ? "primary" : LASTING.test(name) ? "quiet" : "plain"}
            disabled={sending}
            data-answer={name}
            autofocus={focus && at === 0}
            onClick={() => void say(name, free ? undefined : words.trim())}
          >
            {NAMED[request.kind]?.[name] ?? NAMES[name] ?? name}
          </Button>
        ))}
      </div>
      <div class={css.row}>
        <input
          class={css.words}
          aria-label={free ? "Your answer" : "A remark for the agent"}
          placeholder={free ? "Your answer" : "A remark for the agent (optional)"}
          value={words}
          disabled={sending}
          autofocus={focus && options.length === 0}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        {free ? (
          <Button kind="primary" type="submit" disabled={sending || !words.trim()}>
            Answer
          </Button>
        ) : null}
      </div>
      <Always request={request} />
      <Refused problem={problem} />
    </form>
  );
}

function Refused({ problem }: { problem: string | null }) {
  if (problem === null) return null;
  return (
    <p class={css.problem} role="alert">
      {problem}
    </p>
  );
}

function choices(request: Request): string[] {
  const given = request.options ?? [];
  const fixed = CHOICES[request.kind] ?? [];
  const lasting = request.offer ? given.filter((name) => LASTING.test(name)) : [];
  if (fixed[0] === YES) return [...fixed, ...lasting];
  return given.length > 0 ? given : fixed;
}

/** Which calls an "always" would let through. */
function Always({ request }: { request: Request }) {
  const { offer } = request;
  if (!offer || !(request.options ?? []).some((name) => LASTING.test(name))) return null;
  return (
    <p class={css.always}>
      “Always” lets every call of this kind run without asking:{" "}
      <code>
        {String(offer.tool)}: {String(offer.pattern)}
      </code>
    </p>
  );
}
