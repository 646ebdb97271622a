import type { wire } from "@aster/client";
import { useId } from "preact/hooks";
import { Input } from "../../ui/field.tsx";

interface Props {
  tools: wire.ToolEntry[];
  value: string;
  onChange: (tool: string) => void;
  hint?: string;
  autofocus?: boolean;
}

/** A tool by its name, or a pattern of names; those there are can be chosen. */
export function ToolField({ tools, value, onChange, hint, autofocus = false }: Props) {
  const id = useId();
  return (
    <>
      <Input
        label="Tool"
        list={id}
        autocomplete="off"
        value={value}
        hint={hint}
        autofocus={autofocus}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id={id}>
        {tools.map(({ definition }) => (
          <option key={definition.name} value={definition.name} />
        ))}
      </datalist>
    </>
  );
}
