import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { refresh } from "../../lib/tasks.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, Loading, Page, Problem } from "../../ui/page.tsx";
import { Search } from "../../ui/search.tsx";
import { Segments } from "../../ui/segments.tsx";
import css from "./list.module.css";
import { type Listing, type Query, useListing } from "./listing.ts";
import { TaskTable } from "./table.tsx";

const TYPING_MS = 180;
const STATUSES = [
  ["", "All"],
  ["running", "Running"],
  ["suspended", "Waiting"],
  ["idle", "Idle"],
] as const;

/** Every task, the one that changed last first. */
export function TaskList() {
  const [typed, setTyped] = useState("");
  const [query, setQuery] = useState<Query>({});
  useEffect(() => {
    const timer = setTimeout(() => setQuery((was) => ({ ...was, search: typed })), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const listing = useListing(query);
  return (
    <Page
      title="Tasks"
      about="Every conversation, with what was done in it, how long it took and what it cost."
    >
      <Search label="Search tasks" hint="Search titles and ids" value={typed} onSearch={setTyped}>
        <Segments
          label="Status"
          value={query.status ?? ""}
          options={STATUSES}
          onChoose={(status) => setQuery((was) => ({ ...was, status }))}
        />
      </Search>
      <Found listing={listing} narrowed={Boolean(query.search || query.status)} />
    </Page>
  );
}

function Found({ listing, narrowed }: { listing: Listing; narrowed: boolean }) {
  const { tasks, more, loading, error, again, change } = listing;
  if (error) return <Problem error={error} again={again} />;
  if (tasks.length === 0)
    return loading ? <Loading label="Loading tasks" /> : <Nothing narrowed={narrowed} />;
  return (
    <>
      <TaskTable
        tasks={tasks}
        onRenamed={(task) => {
          change((was) => was.map((one) => (one.task_id === task.task_id ? { ...one, ...task } : one)));
          void refresh();
        }}
        onRemoved={(id) => {
          change((was) => was.filter((one) => one.task_id !== id));
          void refresh();
        }}
      />
      {more ? (
        <Button class={css.more ?? ""} disabled={loading} onClick={more}>
          {loading ? "Loading…" : "Show more"}
        </Button>
      ) : null}
    </>
  );
}

function Nothing({ narrowed }: { narrowed: boolean }) {
  if (narrowed) return <Empty title="No task fits">Try other words, or another status.</Empty>;
  return (
    <Empty title="No tasks yet">
      Every conversation is a task. <Link href="/">Begin one</Link> and it is listed here.
    </Empty>
  );
}
