import { CircleCheck, CircleX, Zap } from "lucide-preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { duration, money } from "../../lib/words.ts";
import { Button } from "../../ui/button.tsx";
import { type Detail, Details } from "../../ui/details.tsx";
import { Meter } from "../../ui/meter.tsx";
import css from "./model-check.module.css";
import { type Trial, tryModel } from "./trial.ts";

/** Asks the model something, and tells what came of it. */
export function ModelCheck() {
  const [trial, setTrial] = useState<Trial | null>(null);
  const leaving = useRef<AbortController | null>(null);
  useEffect(() => () => leaving.current?.abort(), []);
  function begin() {
    leaving.current = new AbortController();
    void tryModel(setTrial, leaving.current.signal);
  }
  const asking = trial !== null && trial.state === "asking";
  return (
    <div class={css.check}>
      <Button kind={trial ? "plain" : "primary"} disabled={asking} onClick={begin}>
        <Zap size={14} /> {asking ? "Asking…" : trial ? "Test again" : "Test the connection"}
      </Button>
      {trial ? <Result trial={trial} /> : null}
    </div>
  );
}

function Result({ trial }: { trial: Trial }) {
  return (
    <div class={`${css.result} ${css[trial.state]}`} role="status">
      {trial.waits ? <p>{trial.waits}</p> : null}
      {trial.waits && trial.share !== null ? <Meter label="How far it is" value={trial.share} /> : null}
      {trial.text ? <blockquote class={css.said}>{trial.text}</blockquote> : null}
      {trial.state === "asking" ? null : <Verdict trial={trial} />}
      {trial.ms === null ? null : <Details details={measured(trial, trial.ms)} />}
    </div>
  );
}

function Verdict({ trial }: { trial: Trial }) {
  const [Icon, sentence] =
    trial.state === "answered"
      ? [CircleCheck, "The model answers."]
      : [CircleX, trial.problem ?? "The model did not answer."];
  return (
    <p class={css.verdict}>
      <Icon size={16} aria-hidden="true" /> {sentence}
    </p>
  );
}

function measured(trial: Trial, ms: number): (Detail | null)[] {
  return [
    trial.model ? ["Model", trial.model] : null,
    ["Whole turn", duration(ms)],
    trial.firstMs === null ? null : ["First word after", duration(trial.firstMs)],
    trial.state === "answered" ? ["Cost", trial.cost === null ? "not known" : money(trial.cost)] : null,
  ];
}
