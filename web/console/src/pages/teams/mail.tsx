// What the members of a team say to each other, as a conversation; a person may join in.

import { Send } from "lucide-preact";
import { useMemo, useState } from "preact/hooks";
import { useLive } from "../../lib/live.ts";
import { usePinned } from "../../lib/pinned.ts";
import { useSending } from "../../lib/sending.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { MAIL_TONES } from "../../thread/work-folds.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Select, Textarea } from "../../ui/field.tsx";
import { Card, Loading, Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import { Face } from "./face.tsx";
import css from "./mail.module.css";
import { type Said, talk } from "./talk.ts";
import { over, type Team, teams } from "./teams.ts";

export function MailView({ team }: { team: Team }) {
  const [name, setName] = useState("");
  const mail = useLive(() => teams.mail(team.team_id, name), [team.team_id, name]);
  const said = useMemo(() => talk(mail.value?.mail ?? []), [mail.value]);
  const names = team.members.map((member) => member.name);
  return (
    <Card
      title="Mail"
      actions={
        <div class={css.whose}>
          <Select label="Whose" value={name} onChange={(event) => setName(event.currentTarget.value)}>
            <option value="">Everybody’s</option>
            {["lead", ...names].map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </Select>
        </div>
      }
    >
      {mail.error ? <Problem {...mail} /> : null}
      {mail.value === null ? (
        mail.error ? null : (
          <Loading label="Loading the mail" />
        )
      ) : said.length === 0 ? (
        <p class={css.none}>Nothing has been said yet.</p>
      ) : (
        <Talk team={team} said={said} />
      )}
      {team.status === "active" ? <Say team={team} again={mail.again} /> : null}
    </Card>
  );
}

function Talk({ team, said }: { team: Team; said: Said[] }) {
  const box = usePinned<HTMLOListElement>(said.at(-1)?.id);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long conversation is scrolled with the keyboard
    <ol ref={box} class={css.talk} aria-label="Mail" tabIndex={0}>
      {said.map((one) => (
        <Message key={one.id} team={team} said={one} />
      ))}
    </ol>
  );
}

function Message({ team, said }: { team: Team; said: Said }) {
  const who = said.sender === "person" ? "you" : said.sender;
  const quiet = said.type === "idle_notification";
  const of = said.recipients.length;
  const heard = said.heard === of ? "" : of === 1 ? "not read yet" : `read by ${said.heard} of ${of}`;
  return (
    <li class={`${css.message} ${said.sender === "person" ? css.mine : ""} ${quiet ? css.quiet : ""}`}>
      <Face name={who} team={team} />
      <div class={css.bubble}>
        <p class={css.head}>
          <b>{who}</b>
          <span>
            {quiet ? "is idle" : `to ${said.type === "broadcast" ? "all" : said.recipients.join(", ")}`}
          </span>
          {said.badge && !quiet ? <Badge tone={MAIL_TONES[said.type] ?? "info"}>{said.badge}</Badge> : null}
          <span class={css.when}>
            <When iso={said.at} />
          </span>
        </p>
        {quiet ? null : <Markdown text={said.content} />}
        {heard && !quiet ? <p class={css.heard}>{heard}</p> : null}
      </div>
    </li>
  );
}

function Say({ team, again }: { team: Team; again: () => void }) {
  const [to, setTo] = useState("all");
  const [words, setWords] = useState("");
  const { sending, problem, send } = useSending();
  async function say() {
    if (words.trim() === "") return;
    const done = await send(() => teams.say(team.team_id, to, words.trim()));
    if (!done) return;
    setWords("");
    again();
  }
  return (
    <form
      class={css.say}
      onSubmit={(event) => {
        event.preventDefault();
        void say();
      }}
    >
      <Select label="To" value={to} onChange={(event) => setTo(event.currentTarget.value)}>
        <option value="all">all members</option>
        <option value="lead">lead</option>
        {team.members
          .filter((member) => !over(member))
          .map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
      </Select>
      <Textarea
        label="Say something"
        rows={2}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      <Button kind="primary" type="submit" disabled={sending || words.trim() === ""}>
        <Send size={14} aria-hidden="true" /> Send
      </Button>
      {problem ? <Problem error={problem} /> : null}
    </form>
  );
}
