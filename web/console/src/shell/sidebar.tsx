import { Keyboard, Moon, Plus, Sun, SunMoon } from "lucide-preact";
import { Link, useLocation, useRoute } from "wouter-preact";
import { pending, recent } from "../lib/tasks.ts";
import { type Theme, theme } from "../lib/theme.ts";
import { ago } from "../lib/words.ts";
import { IconButton } from "../ui/button.tsx";
import { PAGES } from "./pages.ts";
import css from "./sidebar.module.css";

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const ICONS = { system: SunMoon, light: Sun, dark: Moon };

export function Sidebar({ onHelp }: { onHelp: () => void }) {
  const Icon = ICONS[theme.value];
  return (
    <nav class={css.sidebar} aria-label="Main">
      <div class={css.brand}>
        <img src="/console/icon.svg" alt="" width="22" height="22" />
        <span>Aster</span>
        <IconButton label="Shortcuts (?)" size="s" class={css.help ?? ""} onClick={onHelp}>
          <Keyboard size={15} />
        </IconButton>
        <IconButton
          label={`Theme: ${theme.value}`}
          size="s"
          onClick={() => (theme.value = NEXT[theme.value])}
        >
          <Icon size={15} />
        </IconButton>
      </div>
      <Link href="/" class={css.fresh}>
        <Plus size={16} /> New chat
      </Link>
      <Places group="work" />
      <Recent />
      <div class={css.foot}>
        <Places group="reach" />
        <Places group="engine" />
      </div>
    </nav>
  );
}

function Places({ group }: { group: "work" | "reach" | "engine" }) {
  const [location] = useLocation();
  const shown = PAGES.filter((page) => page.group === group && page.path !== "/");
  return (
    <ul class={css.places}>
      {shown.map(({ path, title, icon: Icon }) => (
        <li key={path}>
          <Link href={path} class={css.place} aria-current={location.startsWith(path) ? "page" : undefined}>
            <Icon size={16} />
            <span>{title}</span>
            {path === "/inbox" && pending.value.length > 0 ? (
              <span class={css.count}>{pending.value.length}</span>
            ) : null}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Recent() {
  const [, params] = useRoute("/chat/:task");
  if (recent.value.length === 0) return <div class={css.recent} />;
  return (
    <div class={css.recent}>
      <h2>Recent</h2>
      <ul>
        {recent.value.map((task) => (
          <li key={task.task_id}>
            <Link
              href={`/chat/${encodeURIComponent(task.task_id)}`}
              class={css.task}
              aria-current={params?.task === task.task_id ? "page" : undefined}
            >
              <span class={css.title}>{task.title || "Untitled"}</span>
              {task.status === "idle" ? (
                <time class={css.when} dateTime={task.updated_at}>
                  {ago(task.updated_at)}
                </time>
              ) : (
                <span class={`${css.dot} ${css[task.status]}`} title={task.status} />
              )}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
