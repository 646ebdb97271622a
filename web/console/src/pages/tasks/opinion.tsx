// Thumbs up or down for a turn, and why, in words. The same thumb again takes it back.

import { ThumbsDown, ThumbsUp } from "lucide-preact";
import { useState } from "preact/hooks";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Textarea } from "../../ui/field.tsx";
import dialogs from "./dialogs.module.css";
import type { Feedback } from "./feedback.ts";
import css from "./opinion.module.css";

const THUMBS = [
  { rating: 1, label: "Good", Icon: ThumbsUp },
  { rating: -1, label: "Bad", Icon: ThumbsDown },
];

export function Opinion({ turnId, feedback }: { turnId: string; feedback: Feedback }) {
  const said = feedback.of(turnId);
  const [asked, setAsked] = useState<number | null>(null);
  function press(rating: number) {
    if (said?.rating === rating) return void feedback.takeBack(turnId);
    void feedback.say(turnId, rating, said?.text ?? "");
    setAsked(rating);
  }
  return (
    <>
      {said?.text ? <span class={css.text} title={said.text}>{`“${said.text}”`}</span> : null}
      {THUMBS.map(({ rating, label, Icon }) => (
        <IconButton
          key={rating}
          size="s"
          label={label}
          aria-pressed={said?.rating === rating}
          class={css.thumb ?? ""}
          onClick={() => press(rating)}
        >
          <Icon size={14} />
        </IconButton>
      ))}
      {asked === null ? null : (
        <Why
          {...{ rating: asked, text: said?.text ?? "", onLeave: () => setAsked(null) }}
          onSay={(text) => {
            void feedback.say(turnId, asked, text);
            setAsked(null);
          }}
        />
      )}
    </>
  );
}

interface WhyProps {
  rating: number;
  text: string;
  onLeave: () => void;
  onSay: (text: string) => void;
}

function Why({ rating, text, onLeave, onSay }: WhyProps) {
  const [words, setWords] = useState(text);
  return (
    <Dialog title={rating > 0 ? "What was good?" : "What was wrong?"} onLeave={onLeave}>
      <form
        class={dialogs.form}
        onSubmit={(event) => {
          event.preventDefault();
          onSay(words.trim());
        }}
      >
        <Textarea
          label="In words (optional)"
          hint="Your thumb is kept already. Words help the agent to learn from it."
          rows={4}
          autofocus
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <div class={dialogs.buttons}>
          <Button kind="quiet" onClick={onLeave}>
            Leave it at that
          </Button>
          <Button kind="primary" type="submit" disabled={!words.trim()}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
