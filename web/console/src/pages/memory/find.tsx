// Search over every store with why each memory was found; without a question, what is kept, newest first. The question
// and the store stand in the address.

import { Search } from "lucide-preact";
import { useEffect, useState } from "preact/hooks";
import { useSearchParams } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { usePaged } from "../../lib/paged.ts";
import { count, plural } from "../../lib/words.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, Loading, Problem } from "../../ui/page.tsx";
import { Entry } from "./entry.tsx";
import css from "./find.module.css";
import lists from "./list.module.css";
import { type Found, type Kept, memory, NAMES, SEARCHED, type Searched } from "./memory.ts";
import { bestOf, Why } from "./why.tsx";

const TYPED_MS = 250;

export function Find() {
  const [params, setParams] = useSearchParams();
  const query = params.get("q") ?? "";
  const store = SEARCHED.find((name) => name === params.get("store")) ?? null;
  const [typed, setTyped] = useState(query);
  useEffect(() => {
    if (typed === query) return;
    const timer = setTimeout(() => put("q", typed), TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  function put(name: string, value: string | null) {
    setParams(
      (was) => {
        const next = new URLSearchParams(was);
        if (value) next.set(name, value);
        else next.delete(name);
        return next;
      },
      { replace: true },
    );
  }
  return (
    <div class={lists.stack}>
      <search>
        <form
          class={css.search}
          onSubmit={(event) => {
            event.preventDefault();
            put("q", typed);
          }}
        >
          <Search size={17} aria-hidden="true" />
          <input
            type="search"
            aria-label="Search memory"
            placeholder="What is remembered about …"
            data-primary-field
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </form>
      </search>
      <Stores chosen={store} onChoose={(name) => put("store", name)} />
      {query.trim() ? <Hits query={query.trim()} store={store} /> : <Newest key={store} store={store} />}
    </div>
  );
}

interface StoresProps {
  chosen: Searched | null;
  onChoose: (store: Searched | null) => void;
}

function Stores({ chosen, onChoose }: StoresProps) {
  const { value } = useLoaded(memory.statistics, []);
  const many = (name: string) => value?.stores.find(({ store }) => store === name)?.records ?? 0;
  return (
    <fieldset class={css.stores} aria-label="Store">
      <button type="button" class={css.store} aria-pressed={chosen === null} onClick={() => onChoose(null)}>
        All
      </button>
      {SEARCHED.map((name) => (
        <button
          key={name}
          type="button"
          class={css.store}
          aria-pressed={chosen === name}
          onClick={() => onChoose(name)}
        >
          {NAMES[name]} <span class={css.count}>{value ? count(many(name)) : ""}</span>
        </button>
      ))}
    </fieldset>
  );
}

function Hits({ query, store }: { query: string; store: Searched | null }) {
  const found = useLoaded(() => memory.search(query, store && [store]), [query, store]);
  if (found.error) return <Problem error={found.error} again={found.again} />;
  if (found.value === null) return <Loading label="Searching" />;
  const hits = found.value.hits as Found[];
  if (hits.length === 0)
    return <Empty title="Nothing fits">Other words may find it; a store on its own shows all it has.</Empty>;
  const best = bestOf(hits);
  return (
    <>
      <p class={lists.faint} role="status">
        {plural(hits.length, "memory", "memories")}, the most relevant first
        {found.value.notice ? ` · ${found.value.notice}` : ""}
      </p>
      <ul class={lists.list} aria-label="Found">
        {hits.map((hit) => (
          <Entry key={hit.id} record={hit}>
            <Why hit={hit} best={best} />
          </Entry>
        ))}
      </ul>
    </>
  );
}

function Newest({ store }: { store: Searched | null }) {
  const [old, setOld] = useState(false);
  const kept = usePaged<Kept>(
    async (before) => {
      const page = await memory.page({ store, superseded: old, before, limit: 50 });
      return { items: page.records as Kept[], next: page.next };
    },
    [store, old],
  );
  return (
    <>
      <div class={lists.row}>
        <span class={lists.faint}>Newest first</span>
        <label class={css.old}>
          <input type="checkbox" checked={old} onChange={(event) => setOld(event.currentTarget.checked)} />
          also what no longer holds
        </label>
      </div>
      {kept.error ? <Problem error={kept.error} again={kept.again} /> : null}
      <Kepts kept={kept.items} />
      {kept.more ? (
        <Button class={lists.center} disabled={kept.loading} onClick={kept.more}>
          Show more
        </Button>
      ) : null}
    </>
  );
}

function Kepts({ kept }: { kept: Kept[] | null }) {
  if (kept === null) return <Loading />;
  if (kept.length === 0)
    return (
      <Empty title="Nothing is remembered here yet">
        What you tell the agent and what it learns while it works appears here, each with the place it came
        from.
      </Empty>
    );
  return (
    <ul class={lists.list} aria-label="Memories">
      {kept.map((record) => (
        <Entry key={record.id} record={record} />
      ))}
    </ul>
  );
}
