// A request in the inbox: one line, or, when it is looked at, everything there is to judge it by and the answers.

import type { wire } from "@aster/client";
import {
  CircleHelp,
  ClipboardList,
  Coins,
  KeyRound,
  LogIn,
  MonitorSmartphone,
  ShieldQuestionMark,
  Users,
  Wrench,
} from "lucide-preact";
import { useEffect, useRef } from "preact/hooks";
import { Link } from "wouter-preact";
import { AnswerForm, type Request } from "../../asking/answer-form.tsx";
import { Coded } from "../../asking/coded.tsx";
import { RequestText } from "../../asking/request-text.tsx";
import { chatOf, taskOf } from "../../lib/addresses.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { visible } from "../../lib/safe.ts";
import { ago, exactly } from "../../lib/words.ts";
import { type About, aboutRequest } from "./about.ts";
import css from "./request-card.module.css";

const KINDS: Record<string, [typeof Wrench, string]> = {
  permission: [ShieldQuestionMark, "Permission"],
  question: [CircleHelp, "Question"],
  elicitation: [CircleHelp, "Question"],
  budget: [Coins, "Budget"],
  login: [LogIn, "Login"],
  in_doubt: [KeyRound, "In doubt"],
  client_tool: [MonitorSmartphone, "Client tool"],
  team: [Users, "Team"],
  plan_approval: [ClipboardList, "Plan"],
};

/** More than a line can show. */
const LINE_CHARS = 300;
const MARKS = /\*\*|^#+ /gm;

/** What an agent wrote may be formatted; in a line the marks would only be in the way. */
function lineOf({ kind, question }: wire.Pending): string {
  const line = question.slice(0, LINE_CHARS);
  return kind === "question" ? line.replace(MARKS, "") : line;
}

interface Props {
  request: wire.Pending;
  selected: boolean;
  onSelect: () => void;
}

export function RequestCard({ request, selected, onSelect }: Props) {
  const card = useRef<HTMLLIElement>(null);
  const about = useLoaded(() => aboutRequest(request), [request.request_id]);
  useEffect(() => {
    if (selected) card.current?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  const [Icon, kind] = KINDS[request.kind] ?? [Wrench, request.kind];
  return (
    <li ref={card} class={`${css.card} ${selected ? css.selected : ""}`} data-card={request.request_id}>
      <button type="button" class={css.head} data-request aria-expanded={selected} onClick={onSelect}>
        <Icon size={17} class={css.icon} aria-hidden="true" />
        <span class={css.what}>
          <span class={css.task}>{about.value?.title ?? request.task_id}</span>
          <span class={css.kind}>
            {request.tool && request.kind !== "question" ? `${kind}: ${request.tool}` : kind}
          </span>
        </span>
        <span class={css.question}>{selected ? null : <Coded text={visible(lineOf(request))} />}</span>
        <time class={css.when} dateTime={request.created_at} title={exactly(request.created_at)}>
          {ago(request.created_at)}
        </time>
      </button>
      {selected ? <Open request={request} about={about.value} /> : null}
    </li>
  );
}

function Open({ request, about }: { request: wire.Pending; about: About | null }) {
  const asked: Request = {
    ...request,
    kind: request.kind as Request["kind"],
    effects: about?.effects ?? [],
  };
  return (
    <div class={css.body}>
      <RequestText request={asked} />
      <AnswerForm request={asked} />
      <p class={css.links}>
        <Link href={chatOf(request.task_id)} data-open>
          Open the chat
        </Link>
        <Link href={taskOf(request.task_id)}>Time-line</Link>
        {about?.parent ? (
          <Link href={taskOf(about.parent)}>{`Asked by a sub-agent of ${about.parent}`}</Link>
        ) : null}
      </p>
    </div>
  );
}
