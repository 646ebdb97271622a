import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { taskOf } from "../../lib/addresses.ts";
import { visible } from "../../lib/safe.ts";
import { plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Decision } from "../../ui/decision.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Confirm } from "../../ui/form.tsx";
import { Entry, List } from "../../ui/list.tsx";
import { Empty } from "../../ui/page.tsx";
import { When } from "../../ui/when.tsx";
import css from "./permissions.module.css";
import { type Grant, revoke } from "./routes.ts";

/** What was allowed or refused for calls to come, and how often it was used. */
export function Grants({ grants, again }: { grants: Grant[]; again: () => void }) {
  const [ending, setEnding] = useState<Grant | null>(null);
  if (grants.length === 0)
    return <Empty title="No grants yet">Every call that matters is asked about.</Empty>;
  return (
    <>
      <List label="Grants">
        {grants.map((grant) => (
          <One key={grant.grant_id} grant={grant} end={() => setEnding(grant)} />
        ))}
      </List>
      {ending ? (
        <Confirm
          title="Revoke this grant?"
          submit="Revoke"
          onLeave={() => setEnding(null)}
          send={async () => {
            await revoke(ending.grant_id);
            setEnding(null);
            again();
          }}
        >
          From the next call on it no longer holds:{" "}
          <code>{visible(`${ending.tool}: ${ending.pattern}`)}</code>
        </Confirm>
      ) : null}
    </>
  );
}

function One({ grant, end }: { grant: Grant; end: () => void }) {
  const over = grant.expires_at !== null && Date.parse(grant.expires_at) < Date.now();
  return (
    <Entry
      name={grant.tool}
      badges={
        <>
          <Decision behavior={grant.behavior} />
          {over ? <Badge>expired</Badge> : null}
        </>
      }
      about={<code class={css.pattern}>{visible(grant.pattern)}</code>}
      actions={
        <Button size="s" aria-label={`Revoke the grant for ${grant.tool} ${grant.pattern}`} onClick={end}>
          Revoke
        </Button>
      }
    >
      <Facts
        facts={[
          ["Holds", <Scope key="scope" grant={grant} />],
          ["Given by", grant.request_id ? `${grant.created_by}, when asked` : grant.created_by],
          ["Given", <When key="given" iso={grant.created_at} />],
          [
            over ? "Expired" : "Expires",
            grant.expires_at ? <When key="end" iso={grant.expires_at} /> : "never",
          ],
          ["Used", grant.uses ? plural(grant.uses, "time") : "not yet"],
          ["Last used", grant.last_used_at ? <When key="used" iso={grant.last_used_at} /> : null],
        ]}
      />
    </Entry>
  );
}

function Scope({ grant }: { grant: Grant }) {
  if (grant.task_id) {
    return (
      <>
        in the task <Link href={taskOf(grant.task_id)}>{grant.task_id}</Link>
      </>
    );
  }
  return <>{grant.agent ? `for the agent ${grant.agent}` : "everywhere"}</>;
}
