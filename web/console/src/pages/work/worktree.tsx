// The working directory of an item: a worktree of its own on a branch of its own. A person makes it, keeps it or removes
// it; the branch stays in any case.

import type { wire } from "@aster/client";
import { FolderGit2 } from "lucide-preact";
import { useState } from "preact/hooks";
import { engine } from "../../lib/engine.ts";
import { useLoaded } from "../../lib/loaded.ts";
import { useSending } from "../../lib/sending.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Problem } from "../../ui/page.tsx";
import type { Item } from "./work.ts";
import css from "./worktree.module.css";

type Tree = wire.WorktreeAnswer;

const path = (id: string, more = ""): string => `/worktrees/${encodeURIComponent(id)}${more}`;

const TONES: Record<Tree["status"], Tone> = {
  creating: "info",
  active: "good",
  kept: "plain",
  removing: "warn",
  removed: "plain",
  failed: "bad",
};

/** The newest worktree of an item, looked at on the disk. */
async function treeOf(item: Item): Promise<Tree | null> {
  const { worktrees } = await engine.get<wire.WorktreePage>("/worktrees", {
    item_id: item.item_id,
    limit: 1,
  });
  const newest = worktrees[0];
  if (newest === undefined || newest.status === "removed") return newest ?? null;
  return engine.get<Tree>(path(newest.worktree_id));
}

export function Worktree({ item, again }: { item: Item; again: () => void }) {
  const loaded = useLoaded(() => treeOf(item), [item.item_id, item.version]);
  const [making, setMaking] = useState(false);
  const tree = loaded.value;
  const changed = () => {
    setMaking(false);
    loaded.again();
    again();
  };
  if (loaded.error) return <Problem {...loaded} />;
  if (tree && tree.status !== "removed" && tree.status !== "failed")
    return <Shown tree={tree} again={changed} />;
  if (item.status !== "pending" || item.owner) return null;
  if (making) return <Make item={item} onLeave={() => setMaking(false)} onDone={changed} />;
  return (
    <div>
      <Button size="s" kind="quiet" onClick={() => setMaking(true)}>
        <FolderGit2 size={14} aria-hidden="true" /> Give it a working directory of its own
      </Button>
    </div>
  );
}

function Shown({ tree, again }: { tree: Tree; again: () => void }) {
  const { sending, problem, send } = useSending();
  const [removing, setRemoving] = useState(false);
  const id = tree.worktree_id;
  return (
    <section class={css.tree} aria-label="Working directory">
      <h3>
        <FolderGit2 size={15} aria-hidden="true" /> Working directory
        <Badge tone={TONES[tree.status]}>{tree.status}</Badge>
        {tree.in_use ? <Badge tone="info">in use</Badge> : null}
      </h3>
      <p class={css.path}>
        <code>{tree.path}</code> on <code>{tree.branch}</code>
      </p>
      {tree.problem ? <Problem error={tree.problem} /> : null}
      {problem ? <Problem error={problem} /> : null}
      {removing ? (
        <Remove tree={tree} onLeave={() => setRemoving(false)} onDone={again} />
      ) : (
        <div class={css.buttons}>
          {tree.status === "active" ? (
            <Button
              size="s"
              disabled={sending}
              onClick={() => void send(() => engine.post(path(id, "/keep")).then(again))}
            >
              Keep it
            </Button>
          ) : null}
          <Button size="s" kind="quiet" disabled={sending} onClick={() => setRemoving(true)}>
            Remove it
          </Button>
        </div>
      )}
    </section>
  );
}

interface RemoveProps {
  tree: Tree;
  onLeave: () => void;
  onDone: () => void;
}

function Remove({ tree, onLeave, onDone }: RemoveProps) {
  const [discard, setDiscard] = useState(false);
  return (
    <Form
      danger
      submit="Remove it"
      leave="Leave it"
      onLeave={onLeave}
      send={() => engine.post(path(tree.worktree_id, "/remove"), { discard }).then(onDone)}
    >
      <p>{`The directory goes, the branch ${tree.branch} stays. It is refused when something in it is in no commit.`}</p>
      <label class={css.discard}>
        <input
          type="checkbox"
          checked={discard}
          onChange={(event) => setDiscard(event.currentTarget.checked)}
        />
        Also when that loses what no commit has
      </label>
    </Form>
  );
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);

interface MakeProps {
  item: Item;
  onLeave: () => void;
  onDone: () => void;
}

function Make({ item, onLeave, onDone }: MakeProps) {
  const [name, setName] = useState(plain(item.subject));
  return (
    <Form
      submit="Make it"
      ready={name.trim() !== ""}
      onLeave={onLeave}
      send={() => engine.post("/worktrees", { name: name.trim(), item_id: item.item_id }).then(onDone)}
    >
      <Input
        label="Name of the working directory"
        hint={`Whoever takes the item works there, on the branch wt/${name.trim()}`}
        maxLength={64}
        spellcheck={false}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
    </Form>
  );
}
