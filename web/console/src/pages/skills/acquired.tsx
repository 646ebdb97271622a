import type { wire } from "@aster/client";
import { count, plural } from "../../lib/words.ts";
import { Code } from "../../markdown/code.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Card } from "../../ui/page.tsx";
import css from "./skills.module.css";

const MEANING = {
  active: "It passed the test it was written with, and is offered to models.",
  degraded:
    "It failed three times in a row, or has yet to succeed here. Models are told; a success makes it active again.",
  retired: "It failed six times in a row and is no longer offered. A new version begins anew.",
} as const;

/** Code the agent wrote: how it stands, how it has done, what it takes. */
export function Acquired({ acquired }: { acquired: wire.AcquiredAnswer }) {
  return (
    <Card title="How it has done">
      <Facts
        facts={[
          ["Version", count(acquired.version)],
          ["Used", plural(acquired.uses, "time")],
          ["Failures in a row", count(acquired.failures)],
        ]}
      />
      <p class={css.meaning}>{MEANING[acquired.status]}</p>
      <details class={css.more}>
        <summary>What it takes</summary>
        <Code text={JSON.stringify(acquired.parameters_schema, null, 2)} language="json" />
      </details>
      <details class={css.more}>
        <summary>What it was tested with</summary>
        <Code text={JSON.stringify(acquired.test_payload, null, 2)} language="json" />
      </details>
    </Card>
  );
}
