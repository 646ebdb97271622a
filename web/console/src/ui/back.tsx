import { ArrowLeft } from "lucide-preact";
import { Link } from "wouter-preact";
import css from "./back.module.css";

/** From one thing to the list it is in. */
export function Back({ href, children }: { href: string; children: string }) {
  return (
    <Link href={href} class={css.back}>
      <ArrowLeft size={14} aria-hidden="true" /> {children}
    </Link>
  );
}
