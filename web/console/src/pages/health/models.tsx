// Who answers: every endpoint with its circuit, how its calls went, and what its provider's limits leave.

import type { wire } from "@aster/client";
import { count, duration, exactly } from "../../lib/words.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Card } from "../../ui/page.tsx";
import { Figure, Table } from "../../ui/table.tsx";
import { type Endpoint, endpointsOf, partOf, type State, told } from "./health.ts";
import { average, type Sample, sum, valuesOf } from "./metrics.ts";
import css from "./models.module.css";

const CIRCUITS: Record<Endpoint["circuit"], [Tone, string]> = {
  closed: ["good", "answers"],
  half_open: ["warn", "being tried again"],
  open: ["bad", "left alone"],
};

export function Models({ health, about, metrics }: State) {
  const part = partOf(health, "llm");
  const problem = told(part, "problem");
  const last = told(part, "last_call_at");
  return (
    <Card title="Models">
      <p class={css.about}>
        <strong>{told(part, "model")}</strong> by {told(part, "provider")}
        {last ? `, last asked ${exactly(last)}` : ", not asked yet"}
        {told(part, "text") ? `. ${told(part, "text")}` : ""}
      </p>
      <Download part={part} />
      {problem ? (
        <p class={css.problem} role="alert">
          {problem}
        </p>
      ) : null}
      <Table label="Endpoints" head={["Endpoint", "Model", "Circuit", "Used for", "Tools", "#Failures"]}>
        {endpointsOf(part).map((one) => (
          <tr key={`${one.endpoint} ${one.model}`}>
            <td>{one.endpoint}</td>
            <td>{one.model}</td>
            <td>
              <Circuit endpoint={one} />
            </td>
            <td>{one.pools.join(", ")}</td>
            <td>{one.tools}</td>
            <Figure>{count(one.failures)}</Figure>
          </tr>
        ))}
      </Table>
      {metrics ? <Calls metrics={metrics} /> : null}
      <Quotas quotas={about.quotas} />
    </Card>
  );
}

function Circuit({ endpoint }: { endpoint: Endpoint }) {
  const [tone, word] = CIRCUITS[endpoint.circuit] ?? ["plain", endpoint.circuit];
  const wait = endpoint.retry_after_seconds;
  return (
    <span class={css.badges}>
      <Badge tone={tone}>{word}</Badge>
      {endpoint.rate_limited ? <Badge tone="warn">limit used up</Badge> : null}
      {wait ? <span>for {duration(wait * 1000)}</span> : null}
    </span>
  );
}

function Download({ part }: { part: ReturnType<typeof partOf> }) {
  const total = Number(part?.total_bytes ?? 0);
  if (!total || part?.stage === "ready") return null;
  return <Meter label="Download of the model" value={Number(part?.done_bytes ?? 0) / total} />;
}

function Calls({ metrics }: { metrics: Sample[] }) {
  const models = valuesOf(metrics, "aster_model_calls_total", "model");
  if (models.length === 0) return null;
  const time = (name: string, model: string) => {
    const seconds = average(metrics, name, { model });
    return seconds === null ? "–" : duration(seconds * 1000);
  };
  const calls = (model: string) => sum(metrics, "aster_model_calls_total", { model }) ?? 0;
  const well = (model: string) => sum(metrics, "aster_model_calls_total", { model, outcome: "ok" }) ?? 0;
  return (
    <Table
      label="Model calls since the start"
      head={["Since the start", "#Calls", "#Failed", "#On average", "#First token"]}
    >
      {models.map((model) => (
        <tr key={model}>
          <td>{model}</td>
          <Figure>{count(calls(model))}</Figure>
          <Figure>{count(calls(model) - well(model))}</Figure>
          <Figure>{time("aster_model_call_seconds", model)}</Figure>
          <Figure>{time("aster_model_first_token_seconds", model)}</Figure>
        </tr>
      ))}
    </Table>
  );
}

function Quotas({ quotas }: { quotas: wire.QuotaWindow[] }) {
  if (quotas.length === 0) return null;
  return (
    <Table label="Limits of the providers" head={["Limit", "Left", "#Of", "#Whole again"]}>
      {quotas.map((one) => (
        <tr key={`${one.endpoint} ${one.model} ${one.name}`}>
          <td>
            {one.model}: {one.name}
          </td>
          <td class={css.left}>
            <Meter
              label={`${one.name} left`}
              value={one.remaining / Math.max(1, one.limit)}
              tone={one.remaining ? "good" : "bad"}
            />
          </td>
          <Figure>
            {count(one.remaining)} of {count(one.limit)}
          </Figure>
          <Figure>{exactly(one.resets_at)}</Figure>
        </tr>
      ))}
    </Table>
  );
}
