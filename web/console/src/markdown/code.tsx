// Code, highlighted: the highlighter gives a tree, and the tree becomes elements. A language it does not know stays plain.

import { Check, Copy } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import { visible } from "../lib/safe.ts";
import { IconButton } from "../ui/button.tsx";
import css from "./code.module.css";
import { type Highlighter, highlighter } from "./highlighting.ts";
import { Long } from "./long.tsx";

const MOST_CHARS = 30_000;
const COPIED_MS = 1500;
type Tree = ReturnType<Highlighter["highlight"]>;
type Nodes = Tree["children"];

export const Code = memo(function Code({ text, language = "" }: { text: string; language?: string }) {
  const name = language.split(/[\s,{]/)[0]?.toLowerCase() ?? "";
  return (
    <figure class={css.code}>
      <figcaption class={css.head}>
        <span>{name || "text"}</span>
        <CopyButton text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: wide code is scrolled with the keyboard */}
      <pre class={css.body} tabIndex={0}>
        <code>
          <Long text={visible(text)} draw={(shown) => <Highlighted text={shown} language={name} />} />
        </code>
      </pre>
    </figure>
  );
});

/** The text alone, coloured once the highlighter is here. */
export function Highlighted({ text, language }: { text: string; language: string }) {
  const [made, setMade] = useState<Highlighter | null>(null);
  useEffect(() => {
    let gone = false;
    if (language && text.length < MOST_CHARS)
      void highlighter().then((found) => gone || setMade(() => found));
    return () => {
      gone = true;
    };
  }, [language, text.length < MOST_CHARS]);
  if (made === null || !made.registered(language)) return <>{text}</>;
  return <>{elements(made.highlight(language, text).children)}</>;
}

function elements(nodes: Nodes): ComponentChildren[] {
  return nodes.map((node, at) => {
    if (node.type === "text") return node.value;
    if (node.type !== "element") return null;
    const names = (node.properties.className as string[] | undefined) ?? [];
    return (
      <span key={at} class={names.map((name) => css[name] ?? "").join(" ")}>
        {elements(node.children as Nodes)}
      </span>
    );
  });
}

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  async function copy() {
    await navigator.clipboard?.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  }
  return (
    <IconButton label={copied ? "Copied" : label} size="s" onClick={() => void copy()}>
      {copied ? <Check size={14} /> : <Copy size={14} />}
    </IconButton>
  );
}
