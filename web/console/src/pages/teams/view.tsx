// One team: its members and what they are at, plans that wait for a person, and what they say to each other.

import { Square } from "lucide-preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { chatOf } from "../../lib/addresses.ts";
import { useLive } from "../../lib/live.ts";
import type { Loaded } from "../../lib/loaded.ts";
import { money } from "../../lib/words.ts";
import { Back } from "../../ui/back.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Confirm } from "../../ui/form.tsx";
import { Loading, Page, Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import { work, workOf } from "../work/work.ts";
import { MailView } from "./mail.tsx";
import { Members } from "./members.tsx";
import { Plans } from "./plans.tsx";
import { type Team, teams } from "./teams.ts";
import css from "./view.module.css";

export function TeamView({ id }: { id: string }) {
  const loaded = useLive(() => teams.found(id), [id]);
  if (loaded.value === null) {
    return (
      <Page title="Team">
        <Back href="/teams">All teams</Back>
        {loaded.error ? <Problem {...loaded} /> : <Loading label="Loading the team" />}
      </Page>
    );
  }
  return <Shown team={loaded.value} loaded={loaded} />;
}

function Shown({ team, loaded }: { team: Team; loaded: Loaded<Team> }) {
  const requests = useLive(() => teams.requests(team.team_id), [team.team_id]);
  const held = useLive(
    () => work.items({ board: team.board, status: "in_progress", limit: 200 }),
    [team.board],
  );
  const [stopping, setStopping] = useState(false);
  const again = () => {
    loaded.again();
    requests.again();
  };
  const active = team.status === "active";
  return (
    <Page
      title={team.name || team.team_id}
      actions={
        active ? (
          <Button kind="danger" onClick={() => setStopping(true)}>
            <Square size={12} aria-hidden="true" /> Stop the team
          </Button>
        ) : null
      }
    >
      <Back href="/teams">All teams</Back>
      {loaded.error ? <Problem {...loaded} /> : null}
      <About team={team} />
      {requests.error ? <Problem {...requests} /> : null}
      <Plans team={team} requests={requests.value?.requests ?? []} again={again} />
      <div class={css.parts}>
        <MailView team={team} />
        <Members team={team} items={held.value?.items ?? []} again={again} />
      </div>
      {stopping ? (
        <Confirm
          title="Stop the whole team?"
          submit="Stop it"
          onLeave={() => setStopping(false)}
          send={async () => {
            await teams.stop(team.team_id);
            setStopping(false);
            again();
          }}
        >
          All members stop at once. What they had goes back to the board; what they have done and said stays.
        </Confirm>
      ) : null}
    </Page>
  );
}

function About({ team }: { team: Team }) {
  const { items } = team;
  const all = items.pending + items.in_progress + items.completed;
  return (
    <Facts
      facts={[
        [
          "How it stands",
          <Badge key="is" tone={team.status === "active" ? "good" : "plain"}>
            {team.status}
          </Badge>,
        ],
        [
          "Led by",
          <Link key="lead" href={chatOf(team.lead_task_id)}>
            {team.lead_task_id}
          </Link>,
        ],
        [
          "Work",
          <Link key="work" href={workOf({ board: team.board })}>
            {all
              ? `${items.completed} of ${all} done, ${items.in_progress} in progress, ${items.ready} ready`
              : "nothing on its board yet"}
          </Link>,
        ],
        ["Cost", `${money(team.cost_usd)}${team.budget_usd ? ` of ${money(team.budget_usd)}` : ""}`],
        ["Made", <When key="made" iso={team.created_at} />],
        ["Stopped", team.ended_at ? <When key="ended" iso={team.ended_at} /> : null],
      ]}
    />
  );
}
