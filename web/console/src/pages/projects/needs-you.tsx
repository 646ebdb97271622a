// What a project waits for: a question of its work, answered here or in the inbox.

import { useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { Textarea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import css from "./needs-you.module.css";
import { type Project, projects } from "./projects.ts";

export function NeedsYou({ project, again }: { project: Project; again: () => void }) {
  const [answer, setAnswer] = useState("");
  if (project.status !== "NEEDS_USER") return null;
  const { question } = project;
  return (
    <section class={css.needs} aria-label="It needs you">
      <h2>It needs you</h2>
      <p class={css.question}>{question?.question || project.reason}</p>
      {question?.options.length ? (
        <div class={css.options}>
          {question.options.map((option) => (
            <Button key={option} size="s" onClick={() => setAnswer(option)}>
              {option}
            </Button>
          ))}
        </div>
      ) : null}
      <Form
        submit="Answer and go on"
        ready={answer.trim() !== ""}
        send={async () => {
          await projects.resume(project.project_id, answer.trim());
          setAnswer("");
          again();
        }}
      >
        <Textarea
          label="Your answer"
          rows={2}
          value={answer}
          onInput={(event) => setAnswer(event.currentTarget.value)}
        />
      </Form>
    </section>
  );
}
