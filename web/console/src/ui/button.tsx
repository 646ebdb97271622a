import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import css from "./button.module.css";

interface Props extends Omit<ButtonHTMLAttributes, "size" | "icon"> {
  kind?: "plain" | "primary" | "quiet" | "danger";
  size?: "s" | "m";
  children?: ComponentChildren;
}

export function Button({ kind = "plain", size = "m", class: extra, type = "button", ...rest }: Props) {
  return <button type={type} class={`${css.button} ${css[kind]} ${css[size]} ${extra ?? ""}`} {...rest} />;
}

interface IconProps extends Omit<Props, "children" | "label"> {
  label: string;
  children: ComponentChildren;
}

/** A button that shows an icon alone; its label is read out and shown on hover. */
export function IconButton({ label, kind = "quiet", class: extra, ...rest }: IconProps) {
  return (
    <Button kind={kind} aria-label={label} title={label} class={`${css.icon} ${extra ?? ""}`} {...rest} />
  );
}
