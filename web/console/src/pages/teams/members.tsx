// Who is in a team: how each stands, what it is at and what it has cost; it can be asked for a plan or to stop, or stopped.

import { ClipboardList, DoorOpen, Square } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { useSending } from "../../lib/sending.ts";
import { money, plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Confirm } from "../../ui/form.tsx";
import { Card, Problem } from "../../ui/page.tsx";
import { type Item, workOf } from "../work/work.ts";
import { Face } from "./face.tsx";
import css from "./members.module.css";
import { type Member, over, STATUSES, type Team, teams } from "./teams.ts";

/** Why a member is as it is matters when it does not work. */
const TOLD = new Set<Member["status"]>(["failed", "stopping", "stopped"]);

interface Props {
  team: Team;
  /** What is in progress on the team's board. */
  items: readonly Item[];
  again: () => void;
}

export function Members({ team, items, again }: Props) {
  return (
    <Card title="Members">
      <ul class={css.members} aria-label="Members">
        {team.members.map((member) => (
          <Row key={member.name} {...{ team, member, items, again }} />
        ))}
      </ul>
    </Card>
  );
}

const turnWords = (turns: number): string => `${plural(turns, "turn")} since a person wrote`;

function Row({ team, member, items, again }: Props & { member: Member }) {
  const [words, tone] = STATUSES[member.status];
  const item = items.find((one) => one.item_id === member.item_id);
  return (
    <li class={css.member}>
      <Face name={member.name} team={team} />
      <div class={css.text}>
        <p class={css.line}>
          <Link href={taskOf(member.task_id)} class={css.name}>
            {member.name}
          </Link>
          <Badge tone={tone}>{words}</Badge>
        </p>
        <p class={css.facts}>
          {[member.role, member.agent, turnWords(member.turns), money(member.cost_usd)]
            .filter((fact) => fact && fact !== "–")
            .join(" · ")}
        </p>
        {member.item_id ? (
          <p class={css.item}>
            {"at "}
            <Link href={workOf({ board: team.board, item: member.item_id })}>
              {item?.subject ?? member.item_id}
            </Link>
          </p>
        ) : null}
        {member.reason && TOLD.has(member.status) ? <p class={css.facts}>{member.reason}</p> : null}
        {member.unread ? <p class={css.facts}>{plural(member.unread, "message")} not read yet</p> : null}
      </div>
      {over(member) || team.status !== "active" ? null : <Doing {...{ team, member, again }} />}
    </li>
  );
}

function Doing({ team, member, again }: { team: Team; member: Member; again: () => void }) {
  const { sending, problem, send } = useSending();
  const [stopping, setStopping] = useState(false);
  const { team_id: id } = team;
  const { name } = member;
  return (
    <div class={css.doing}>
      <IconButton
        size="s"
        label={`Ask ${name} for a plan`}
        disabled={sending}
        onClick={() => void send(() => teams.askForPlan(id, name).then(again))}
      >
        <ClipboardList size={14} />
      </IconButton>
      <IconButton
        size="s"
        label={`Ask ${name} to stop when it can`}
        disabled={sending || member.status === "stopping"}
        onClick={() => void send(() => teams.askToStop(id, name).then(again))}
      >
        <DoorOpen size={14} />
      </IconButton>
      <IconButton size="s" label={`Stop ${name} at once`} onClick={() => setStopping(true)}>
        <Square size={12} />
      </IconButton>
      {problem ? <Problem error={problem} /> : null}
      {stopping ? (
        <Confirm
          title={`Stop ${name} at once?`}
          submit="Stop it"
          onLeave={() => setStopping(false)}
          send={async () => {
            await teams.stopMember(id, name);
            setStopping(false);
            again();
          }}
        >
          Its turn ends where it is. What it was at goes back to the board, and another member may take it.
        </Confirm>
      ) : null}
    </div>
  );
}
