import { Copy, MessageSquare, Pencil, Trash2 } from "lucide-preact";
import { Link } from "wouter-preact";
import { visible } from "../../lib/safe.ts";
import { plural } from "../../lib/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Facts } from "../../ui/facts.tsx";
import css from "./agents.module.css";
import type { Agent } from "./routes.ts";

interface Doings {
  onEdit?: (agent: Agent) => void;
  onRemove?: (agent: Agent) => void;
  onCopy?: (agent: Agent) => void;
}

const SHOWN = 4;
const SOURCES = { stock: "stock", catalog: "operator", user: "yours" } as const;

export function AgentCards({ agents, ...doings }: { agents: Agent[] } & Doings) {
  return (
    <ul class={css.cards}>
      {agents.map((agent) => (
        <AgentCard key={agent.name} agent={agent} {...doings} />
      ))}
    </ul>
  );
}

function AgentCard({ agent, ...doings }: { agent: Agent } & Doings) {
  const without = agent.disallowed_tools ?? [];
  return (
    <li class={css.card}>
      <header class={css.head}>
        <h3>{agent.name}</h3>
        <Badge tone={agent.source === "user" ? "accent" : "plain"}>{SOURCES[agent.source]}</Badge>
      </header>
      <p class={css.about}>{agent.description}</p>
      <Facts
        facts={[
          ["Model", agent.model ?? "the usual one"],
          ["Tools", toolWords(agent.tools)],
          ["But not", without.join(", ")],
          ["Mode", agent.permission_mode],
          ["At most", agent.max_turns ? plural(agent.max_turns, "model call") : null],
          ["Skills", (agent.skills ?? []).join(", ")],
        ]}
      />
      <details class={css.more}>
        <summary>{agent.tools?.length ? "Prompt and tools" : "Prompt"}</summary>
        {agent.tools?.length ? <p class={css.tools}>{agent.tools.join("  ")}</p> : null}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long prompt is scrolled with the keyboard */}
        <pre class={css.prompt} tabIndex={0}>
          {visible(agent.system_prompt)}
        </pre>
      </details>
      <Foot agent={agent} {...doings} />
    </li>
  );
}

function toolWords(tools: string[] | null | undefined): string {
  if (!tools) return "all";
  const shown = tools.slice(0, SHOWN).join(", ");
  return tools.length > SHOWN ? `${shown} and ${tools.length - SHOWN} more` : shown || "none";
}

function Foot({ agent, onEdit, onRemove, onCopy }: { agent: Agent } & Doings) {
  return (
    <footer class={css.foot}>
      <Link class={css.try} href={`/?agent=${encodeURIComponent(agent.name)}`}>
        <MessageSquare size={14} aria-hidden="true" /> Try in chat
      </Link>
      <span class={css.doings}>
        {onCopy ? (
          <IconButton size="s" label={`Copy ${agent.name}`} onClick={() => onCopy(agent)}>
            <Copy size={14} />
          </IconButton>
        ) : null}
        {onEdit ? (
          <IconButton size="s" label={`Edit ${agent.name}`} onClick={() => onEdit(agent)}>
            <Pencil size={14} />
          </IconButton>
        ) : null}
        {onRemove ? (
          <IconButton size="s" label={`Delete ${agent.name}`} onClick={() => onRemove(agent)}>
            <Trash2 size={14} />
          </IconButton>
        ) : null}
      </span>
    </footer>
  );
}
