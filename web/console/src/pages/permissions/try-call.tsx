import type { wire } from "@aster/client";
import { useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { Decision } from "../../ui/decision.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Select, Textarea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import css from "./permissions.module.css";
import { type Proposal, tryCall } from "./routes.ts";
import { ToolField } from "./tool-field.tsx";
import { inputOf, MODES, parsed, sourceOf } from "./words.ts";

interface Props {
  tools: wire.ToolEntry[];
  propose: (proposal: Proposal) => void;
}

/** What would happen with a call. Nothing is run. */
export function TryCall({ tools, propose }: Props) {
  const [tool, setTool] = useState("bash");
  const [text, setText] = useState('{\n  "command": ""\n}');
  const [mode, setMode] = useState("");
  const [verdict, setVerdict] = useState<wire.DecisionAnswer | null>(null);
  const read = parsed(text);
  const input = "input" in read ? read.input : null;
  function choose(name: string) {
    setTool(name);
    const found = tools.find((one) => one.definition.name === name);
    if (found) setText(inputOf(found));
  }
  return (
    <div class={css.columns}>
      <Card title="A call">
        <Form
          submit="What would happen?"
          ready={Boolean(tool.trim() && input)}
          send={async () => {
            const asked = (mode || null) as wire.TestBody["mode"];
            setVerdict(await tryCall({ tool: tool.trim(), input: input ?? {}, mode: asked ?? null }));
          }}
        >
          <ToolField tools={tools} value={tool} onChange={choose} />
          <div class={css.mono}>
            <Textarea
              label="Input"
              spellcheck={false}
              value={text}
              error={"error" in read ? read.error : null}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </div>
          <Select label="Mode" value={mode} onChange={(event) => setMode(event.currentTarget.value)}>
            <option value="">The engine's usual one</option>
            {Object.entries(MODES).map(([name, words]) => (
              <option key={name} value={name}>
                {name}: {words}
              </option>
            ))}
          </Select>
        </Form>
      </Card>
      <div aria-live="polite">
        {verdict ? (
          <Card title="What would happen">
            <Verdict verdict={verdict} propose={propose} />
          </Card>
        ) : (
          <Empty title="Nothing is run">
            The engine thinks the call through and says what it would do with it, and why.
          </Empty>
        )}
      </div>
    </div>
  );
}

function Verdict({ verdict, propose }: { verdict: wire.DecisionAnswer; propose: Props["propose"] }) {
  const { behavior, reason, effects, decided_by, offer } = verdict;
  const [source, id] = sourceOf(decided_by);
  return (
    <div class={css.verdict}>
      <div>
        <Decision behavior={behavior} />
      </div>
      {reason ? <p class={css.reason}>{reason}</p> : null}
      {effects.length ? (
        <ul aria-label="What it would do">
          {effects.map((effect) => (
            <li key={effect}>{effect}</li>
          ))}
        </ul>
      ) : null}
      <Facts
        facts={[
          ["Decided by", source],
          ["Which", id ? <code>{id}</code> : null],
          ["“Always” would allow", offer ? <code>{`${offer.tool}: ${offer.pattern}`}</code> : null],
        ]}
      />
      {offer ? (
        <div>
          <Button size="s" onClick={() => propose({ ...offer, behavior: "allow" })}>
            Grant it
          </Button>
        </div>
      ) : null}
    </div>
  );
}
