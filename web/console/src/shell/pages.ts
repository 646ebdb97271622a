// Every page of the console: where it is, what it is called, and the file it comes from. A page is fetched when it is
// first opened.

import {
  Activity,
  Bot,
  Brain,
  CalendarClock,
  ChartColumn,
  FolderKanban,
  GraduationCap,
  Inbox,
  type LucideIcon,
  MessageSquare,
  Plug,
  Rows3,
  Settings,
  ShieldCheck,
  Sparkles,
  SquareKanban,
  SquareTerminal,
  Users,
} from "lucide-preact";
import type { FunctionComponent } from "preact";
import { lazy } from "preact/compat";

interface Page {
  path: string;
  route: string;
  title: string;
  icon: LucideIcon;
  /** The letter that goes there after `g`. */
  key: string;
  group: "work" | "reach" | "engine";
  view: FunctionComponent;
}

export const PAGES: Page[] = [
  {
    path: "/inbox",
    route: "/inbox",
    title: "Inbox",
    icon: Inbox,
    key: "i",
    group: "work",
    view: lazy(() => import("../pages/inbox/page.tsx")),
  },
  {
    path: "/tasks",
    route: "/tasks/*?",
    title: "Tasks",
    icon: Rows3,
    key: "t",
    group: "work",
    view: lazy(() => import("../pages/tasks/page.tsx")),
  },
  {
    path: "/work",
    route: "/work/*?",
    title: "Work",
    icon: SquareKanban,
    key: "w",
    group: "work",
    view: lazy(() => import("../pages/work/page.tsx")),
  },
  {
    path: "/projects",
    route: "/projects/*?",
    title: "Projects",
    icon: FolderKanban,
    key: "o",
    group: "work",
    view: lazy(() => import("../pages/projects/page.tsx")),
  },
  {
    path: "/teams",
    route: "/teams/*?",
    title: "Teams",
    icon: Users,
    key: "e",
    group: "work",
    view: lazy(() => import("../pages/teams/page.tsx")),
  },
  {
    path: "/schedules",
    route: "/schedules/*?",
    title: "Schedules",
    icon: CalendarClock,
    key: "d",
    group: "work",
    view: lazy(() => import("../pages/schedules/page.tsx")),
  },
  {
    path: "/running",
    route: "/running/*?",
    title: "Running",
    icon: SquareTerminal,
    key: "r",
    group: "work",
    view: lazy(() => import("../pages/running/page.tsx")),
  },
  {
    path: "/memory",
    route: "/memory/*?",
    title: "Memory",
    icon: Brain,
    key: "m",
    group: "work",
    view: lazy(() => import("../pages/memory/page.tsx")),
  },
  {
    path: "/learning",
    route: "/learning/*?",
    title: "Learning",
    icon: GraduationCap,
    key: "l",
    group: "work",
    view: lazy(() => import("../pages/learning/page.tsx")),
  },
  {
    path: "/connectors",
    route: "/connectors",
    title: "Connectors",
    icon: Plug,
    key: "c",
    group: "reach",
    view: lazy(() => import("../pages/connectors/page.tsx")),
  },
  {
    path: "/skills",
    route: "/skills/*?",
    title: "Skills",
    icon: Sparkles,
    key: "k",
    group: "reach",
    view: lazy(() => import("../pages/skills/page.tsx")),
  },
  {
    path: "/agents",
    route: "/agents",
    title: "Agents",
    icon: Bot,
    key: "a",
    group: "reach",
    view: lazy(() => import("../pages/agents/page.tsx")),
  },
  {
    path: "/permissions",
    route: "/permissions/*?",
    title: "Permissions",
    icon: ShieldCheck,
    key: "p",
    group: "reach",
    view: lazy(() => import("../pages/permissions/page.tsx")),
  },
  {
    path: "/usage",
    route: "/usage",
    title: "Usage",
    icon: ChartColumn,
    key: "u",
    group: "engine",
    view: lazy(() => import("../pages/usage/page.tsx")),
  },
  {
    path: "/health",
    route: "/health",
    title: "Health",
    icon: Activity,
    key: "h",
    group: "engine",
    view: lazy(() => import("../pages/health/page.tsx")),
  },
  {
    path: "/settings",
    route: "/settings/*?",
    title: "Settings",
    icon: Settings,
    key: "s",
    group: "engine",
    view: lazy(() => import("../pages/settings/page.tsx")),
  },
  {
    path: "/",
    route: "/*?",
    title: "Chat",
    icon: MessageSquare,
    key: "n",
    group: "work",
    view: lazy(() => import("../pages/chat/page.tsx")),
  },
];
