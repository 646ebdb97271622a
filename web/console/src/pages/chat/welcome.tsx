// What a new chat begins with: three things worth trying, none of which needs anything set up.

import { FileSearch, ListTodo, Terminal } from "lucide-preact";
import css from "./welcome.module.css";

export const IDEAS = [
  {
    icon: FileSearch,
    title: "Look around",
    text: "List the files in the workspace and tell me what this project is about.",
  },
  {
    icon: Terminal,
    title: "Do something",
    text: "Write a short Python script that prints the first ten primes, run it, and show me the output.",
  },
  {
    icon: ListTodo,
    title: "Plan first",
    text: "Make a plan for a small to-do list program in Python, then build it step by step.",
  },
];

export function Welcome({ ask }: { ask: (text: string) => void }) {
  return (
    <div class={css.welcome}>
      <img src="/console/icon.svg" alt="" width="44" height="44" />
      <h2>What shall we do?</h2>
      <ul>
        {IDEAS.map(({ icon: Icon, title, text }) => (
          <li key={title}>
            <button type="button" onClick={() => ask(text)}>
              <Icon size={18} aria-hidden="true" />
              <strong>{title}</strong>
              <span>{text}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
