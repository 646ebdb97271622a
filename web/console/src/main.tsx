import { render } from "preact";
import { App } from "./app.tsx";
import { followTheme } from "./lib/theme.ts";
import "./styles/tokens.css";
import "./styles/base.css";

followTheme();
render(<App />, document.getElementById("app") as HTMLElement);
