import type { wire } from "@aster/client";
import { plural } from "../../lib/words.ts";
import { Code } from "../../markdown/code.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Card } from "../../ui/page.tsx";
import css from "./skills.module.css";

/** Calls the agent wants to make as one, to be read before they are approved. */
export function Composed({ composed }: { composed: wire.ComposedAnswer }) {
  return (
    <Card title="The calls">
      <p class={css.meaning}>
        {composed.status === "proposed"
          ? "Your agent proposes to make these calls as one. It can do so once you approve; each of them is decided like any other all the same."
          : "Approved. Each of the calls is decided like any other all the same."}
      </p>
      <Facts
        facts={[
          ["Made", composed.mode === "parallel" ? "all at once" : "one after the other"],
          ["Parameters", composed.parameters.join(", ")],
          ["Used", plural(composed.uses ?? 0, "time")],
        ]}
      />
      <ol class={css.steps}>
        {composed.steps.map((step, at) => (
          <li key={`${at} ${step.tool}`}>
            <div class={css.marks}>
              <code class={css.tool}>{step.tool}</code>
              {step.optional ? <Badge>optional</Badge> : null}
              {step.save_as ? (
                <Badge tone="info">
                  kept as <code>{step.save_as}</code>
                </Badge>
              ) : null}
            </div>
            {step.when ? <p class={css.when}>Only when {conditions(step.when)}</p> : null}
            <Code text={JSON.stringify(step.input, null, 2)} language="json" />
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** A condition as it is said: a value, how it is compared, with what. */
export const conditions = ({ value = "", ...rest }: Record<string, string>): string =>
  Object.entries(rest)
    .map(([how, what]) => `${value} ${how} ${what}`)
    .join(", ");
