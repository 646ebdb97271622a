import { Plus } from "lucide-preact";
import type { Loaded } from "../../lib/loaded.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Decision } from "../../ui/decision.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Section } from "../../ui/list.tsx";
import { Card, Empty, Loading, Problem } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { Grants } from "./grants.tsx";
import css from "./permissions.module.css";
import type { Known, Proposal } from "./routes.ts";
import { MODES } from "./words.ts";

interface Props {
  loaded: Loaded<Known>;
  propose: (proposal: Proposal) => void;
}

/** Everything that decides on calls, and where it comes from. */
export function InForce({ loaded: { value, error, again }, propose }: Props) {
  if (error) return <Problem error={error} again={again} />;
  if (!value) return <Loading />;
  const { mode, bypass_allowed, unattended_policy, rules, grants } = value.inForce;
  return (
    <>
      <Card>
        <Facts
          facts={[
            ["Mode", `${mode}: ${MODES[mode]}`],
            ["Mode “bypass”", bypass_allowed ? "may be asked for" : "not allowed here"],
            ["When nobody is there", unattended_policy === "park" ? "the task waits" : "the call is refused"],
          ]}
        />
        <p class={css.order}>
          Strongest first: denials, the mode “plan”, rules that ask every time, your grants, the other rules,
          the modes “bypass” and “auto”, and last the engine's own judgement of the call.
        </p>
      </Card>
      <Section
        title="Grants"
        about="Yours alone. Given here, or with “always” when you were asked."
        actions={
          <Button kind="primary" onClick={() => propose({ tool: "", pattern: "*", behavior: "allow" })}>
            <Plus size={15} aria-hidden="true" /> Add a grant
          </Button>
        }
      >
        <Grants grants={grants} again={again} />
      </Section>
      <Section
        title="Rules"
        about="The operator's; they hold for everybody and are changed in the engine's settings."
      >
        {rules.length ? (
          <Card>
            <Table label="Rules" head={["Calls", "Of the tool", "That look like", "Why", "Rule"]}>
              {rules.map((rule) => (
                <tr key={rule.id}>
                  <td>
                    <span class={css.badges}>
                      <Decision behavior={rule.behavior} />
                      {rule.every_time ? <Badge>every time</Badge> : null}
                    </span>
                  </td>
                  <td>
                    <code>{rule.tool}</code>
                  </td>
                  <td>
                    <code class={css.pattern}>{rule.pattern}</code>
                  </td>
                  <td class={css.why}>{rule.reason}</td>
                  <td>
                    <code>{rule.id}</code>
                  </td>
                </tr>
              ))}
            </Table>
          </Card>
        ) : (
          <Empty title="No rules">
            The operator has set none; the mode, grants and the engine's judgement decide.
          </Empty>
        )}
      </Section>
    </>
  );
}
