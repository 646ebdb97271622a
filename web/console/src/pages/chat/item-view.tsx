// Every item of a thread, drawn by its kind, here and inside of sub-agents.

import { memo } from "preact/compat";
import type { Item } from "../../thread/items.ts";
import { AgentCard } from "./agent-card.tsx";
import { AskCard } from "./ask-card.tsx";
import { CallCard } from "./call-card.tsx";
import { EndLine, NoteLine } from "./lines.tsx";
import { PassageText } from "./passage.tsx";
import { PlanCard, TodoCard } from "./plans.tsx";
import { SaidBubble } from "./said.tsx";
import { ToldCard } from "./told-card.tsx";

/** An item and how often it has changed: it stays the same object, so that its revision is what tells a view to follow. */
export interface Shown<T extends Item> {
  item: T;
  rev: number;
}

export interface Doing {
  edit: (messageId: string, text: string) => void;
  retry: (messageId: string) => void;
  fork: (seq: number) => void;
}

/** Calls whose outcome stands in the thread as something of its own: a list, a question, a sub-agent. */
const TOLD = new Set(["todo_write", "update_plan", "ask_user", "spawn_agent"]);

/** Whether an item is to be seen; a call that failed always is. */
export const shows = (item: Item): boolean =>
  item.kind !== "call" || !TOLD.has(item.tool) || item.status === "failed";

interface Props {
  item: Item;
  rev: number;
  /** Null where nothing can be done: what a sub-agent did is only looked at. */
  doing: Doing | null;
  taskId: string;
}

/** Drawn again when its revision has grown, and only then. */
export const ItemView = memo(
  function ItemView({ item, doing, taskId }: Props) {
    switch (item.kind) {
      case "said":
        return <SaidBubble item={item} rev={item.rev} doing={doing} />;
      case "passage":
        return <PassageText item={item} rev={item.rev} />;
      case "call":
        return <CallCard item={item} rev={item.rev} taskId={taskId} />;
      case "ask":
        return <AskCard item={item} rev={item.rev} />;
      case "agent":
        return <AgentCard item={item} rev={item.rev} />;
      case "todos":
        return <TodoCard item={item} rev={item.rev} />;
      case "plan":
        return <PlanCard item={item} rev={item.rev} />;
      case "told":
        return <ToldCard item={item} rev={item.rev} />;
      case "end":
        return <EndLine item={item} rev={item.rev} doing={doing} />;
      default:
        return <NoteLine item={item} rev={item.rev} />;
    }
  },
  (was, now) => was.item === now.item && was.rev === now.rev && was.doing === now.doing,
);
