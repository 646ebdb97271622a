// Work: what is to be done, what waits for what and who is at it; and workflows. Each view and each item has an address.

import { Plus } from "lucide-preact";
import { useState } from "preact/hooks";
import { useLocation, useSearchParams } from "wouter-preact";
import { idIn } from "../../lib/addresses.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { BoardView } from "./board.tsx";
import { useBoardNames, useBoards } from "./columns.ts";
import { CreateDialog } from "./create-dialog.tsx";
import { GraphView } from "./graph-view.tsx";
import { ItemDialog } from "./item-dialog.tsx";
import css from "./page.module.css";
import { RunView } from "./run-view.tsx";
import { type Board, MAIN, workOf } from "./work.ts";
import { Workflows } from "./workflows.tsx";

const VIEWS = [
  ["", "Board"],
  ["graph", "Dependencies"],
  ["workflows", "Workflows"],
] as const;

export default function WorkPage() {
  const [location, navigate] = useLocation();
  const [query] = useSearchParams();
  const [creating, setCreating] = useState(false);
  const [changes, setChanges] = useState(0);
  const boards = useBoards(changes);
  const changed = () => setChanges((many) => many + 1);
  const board = query.get("board") ?? MAIN;
  const open = query.get("item");
  const [, , view = "", one] = location.split("/");
  const onBoard = view !== "workflows";
  const leave = () => navigate(workOf({ board, view }));
  return (
    <Page
      title="Work"
      about="What is to be done, what waits for what, and who is at it. Agents and you take from the same boards."
      actions={
        onBoard ? (
          <Button kind="primary" onClick={() => setCreating(true)}>
            <Plus size={15} aria-hidden="true" /> Add work
          </Button>
        ) : null
      }
    >
      <div class={css.bar}>
        <Tabs
          label="Views of work"
          tabs={VIEWS.map(([name, title]) => ({
            ...{ href: workOf({ board, view: name }), title, current: view === name },
          }))}
        />
        {onBoard ? (
          <BoardChoice
            boards={boards.value ?? []}
            board={board}
            onChoose={(chosen) => navigate(workOf({ board: chosen, view }))}
          />
        ) : null}
      </div>
      <View
        name={view}
        one={one === undefined ? null : idIn(one)}
        board={board}
        boards={boards.value ?? []}
        changes={changes}
      />
      {open ? <ItemDialog key={open} id={open} view={view} onChange={changed} onLeave={leave} /> : null}
      {creating ? (
        <CreateDialog
          board={board}
          onLeave={() => setCreating(false)}
          onDone={(made) => {
            setCreating(false);
            changed();
            navigate(workOf({ board: made.board, view }));
          }}
        />
      ) : null}
    </Page>
  );
}

interface ViewProps {
  changes: number;
  name: string;
  one: string | null;
  board: string;
  boards: Board[];
}

function View({ name, one, board, boards, changes }: ViewProps) {
  const known = boards.find((other) => other.board === board);
  if (name === "workflows") return one === null ? <Workflows /> : <RunView id={one} />;
  if (name === "graph") return <GraphView key={board} board={board} changes={changes} />;
  return <BoardView key={board} board={board} known={known} changes={changes} />;
}

interface ChoiceProps {
  boards: Board[];
  board: string;
  onChoose: (board: string) => void;
}

/** Only where there is more than one. */
function BoardChoice({ boards, board, onChoose }: ChoiceProps) {
  const called = useBoardNames();
  const names = [...new Set([MAIN, board, ...boards.map((one) => one.board)])];
  if (names.length < 2) return null;
  const openOf = (name: string) => {
    const found = boards.find((one) => one.board === name);
    return found ? found.pending + found.in_progress : 0;
  };
  return (
    <div class={css.choice}>
      <Select label="Board" value={board} onChange={(event) => onChoose(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {`${called.get(name) ?? name} (${openOf(name)} open)`}
          </option>
        ))}
      </Select>
    </div>
  );
}
