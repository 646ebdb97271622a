// The resources or the prompts of a connected server, one by one, as it tells them when they are looked at.

import type { wire } from "@aster/client";
import { useLoaded } from "../../lib/loaded.ts";
import { visible } from "../../lib/safe.ts";
import { Badge } from "../../ui/badge.tsx";
import { Loading, Problem } from "../../ui/page.tsx";
import css from "./contents.module.css";
import { contents } from "./routes.ts";

const NAMES = { resource: "Resources", prompt: "Prompts" };

export function Contents({ refId, kind }: { refId: string; kind: "resource" | "prompt" }) {
  const { value, error, again } = useLoaded(() => contents(refId), [refId]);
  if (error) return <Problem error={error} again={again} />;
  if (!value) return <Loading />;
  const shown = value.contents.filter((one) => (one.kind === "prompt") === (kind === "prompt"));
  if (shown.length === 0) return <p class={css.about}>The server has none at the moment.</p>;
  return (
    <ul class={css.list} aria-label={NAMES[kind]}>
      {shown.map((one) => (
        <One key={`${one.kind} ${one.address}`} one={one} />
      ))}
    </ul>
  );
}

function One({ one }: { one: wire.ContentEntry }) {
  const name = one.kind === "prompt" ? `${one.address}(${one.arguments.join(", ")})` : one.address;
  const about = one.description || (one.title === one.address ? "" : one.title);
  return (
    <li>
      <code>{visible(name)}</code>
      {one.kind === "template" ? <Badge>template</Badge> : null}
      {about ? <span class={css.about}>{visible(about)}</span> : null}
    </li>
  );
}
