import type { wire } from "@aster/client";
import { UserRoundPlus } from "lucide-preact";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { useLive } from "../../lib/live.ts";
import { plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Entry, EntryFacts, List } from "../../ui/list.tsx";
import { Empty, Loading, Page, Problem } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import { type Board, work } from "../work/work.ts";
import { CreateTeam } from "./create.tsx";
import { teamOf, teams } from "./teams.ts";

interface Line {
  team: wire.TeamLine;
  /** How much is on its board; nothing has been put there yet when it is not known. */
  board: Board | undefined;
}

async function found(): Promise<Line[]> {
  const [page, { boards }] = await Promise.all([teams.list(), work.boards()]);
  return page.teams.map((team) => ({ team, board: boards.find((one) => one.board === team.board) }));
}

export function TeamList() {
  const loaded = useLive(found, []);
  const [creating, setCreating] = useState(false);
  const [, navigate] = useLocation();
  return (
    <Page
      title="Teams"
      about="Agents that work together: one leads, the others have a name, a role and an inbox, and take work from one board."
      actions={
        <Button kind="primary" onClick={() => setCreating(true)}>
          <UserRoundPlus size={15} aria-hidden="true" /> New team
        </Button>
      }
    >
      {loaded.error ? <Problem {...loaded} /> : null}
      {loaded.value === null ? (
        loaded.error ? null : (
          <Loading label="Loading teams" />
        )
      ) : loaded.value.length === 0 ? (
        <Empty title="There is no team yet">
          Make one here, or let an agent propose one in a chat: you are asked before it begins.
        </Empty>
      ) : (
        <List label="Teams">
          {loaded.value.map(({ team, board }) => (
            <Row key={team.team_id} team={team} board={board} />
          ))}
        </List>
      )}
      {creating ? (
        <CreateTeam onLeave={() => setCreating(false)} onDone={(team) => navigate(teamOf(team.team_id))} />
      ) : null}
    </Page>
  );
}

function Row({ team, board }: Line) {
  const all = board ? board.pending + board.in_progress + board.completed : 0;
  return (
    <Entry
      name={team.name || team.team_id}
      href={teamOf(team.team_id)}
      badges={<Badge tone={team.status === "active" ? "good" : "plain"}>{team.status}</Badge>}
    >
      <EntryFacts>
        {board && all ? <span>{`${board.completed} of ${plural(all, "item")} done`}</span> : null}
        <span>{`led by ${team.lead_task_id}`}</span>
        <span>
          made <When iso={team.created_at} />
        </span>
      </EntryFacts>
    </Entry>
  );
}
