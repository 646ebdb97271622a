// The form a connected server asks a person to fill in: flat fields of text, numbers, choices and yes or no, as its schema
// says. What is typed here is given back as an object that fits the schema's types.

import { useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { Input, Select } from "../ui/field.tsx";
import css from "./answer-form.module.css";

interface Field {
  type?: string;
  title?: string;
  description?: string;
  enum?: string[];
  enumNames?: string[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}

export interface FormSchema {
  properties?: Record<string, Field>;
  required?: string[];
}

/** The form of a request, if it is one that asks for several things. */
export function formOf(input: Record<string, unknown> | null | undefined): FormSchema | null {
  const schema = input?.requested_schema;
  return typeof schema === "object" && schema !== null && "properties" in schema
    ? (schema as FormSchema)
    : null;
}

/** What was typed into a field, as its type wants it; nothing when it was left empty. */
export function typed(field: Field, text: string): unknown {
  if (field.type === "boolean") return text === "true";
  if (text === "") return undefined;
  return field.type === "number" || field.type === "integer" ? Number(text) : text;
}

export function filled(schema: FormSchema, texts: Record<string, string>): Record<string, unknown> {
  const fields = Object.entries(schema.properties ?? {});
  const pairs = fields.map(([name, field]) => [name, typed(field, texts[name] ?? "")] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

const first = ({ default: given, type }: Field): string =>
  given === undefined || given === null ? (type === "boolean" ? "false" : "") : String(given);

interface Props {
  schema: FormSchema;
  sending: boolean;
  say: (answer: string) => void;
}

export function FormFields({ schema, sending, say }: Props) {
  const fields = Object.entries(schema.properties ?? {});
  const [texts, setTexts] = useState(() =>
    Object.fromEntries(fields.map(([name, field]) => [name, first(field)])),
  );
  return (
    <form
      class={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        say(JSON.stringify(filled(schema, texts)));
      }}
    >
      {fields.map(([name, field]) => (
        <OneField
          key={name}
          name={name}
          field={field}
          required={schema.required?.includes(name) ?? false}
          value={texts[name] ?? ""}
          change={(text) => setTexts((known) => ({ ...known, [name]: text }))}
        />
      ))}
      <div class={css.row}>
        <Button kind="primary" type="submit" disabled={sending}>
          Send
        </Button>
        <Button disabled={sending} onClick={() => say("decline")}>
          Decline
        </Button>
        <Button kind="quiet" disabled={sending} onClick={() => say("cancel")}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

interface OneProps {
  name: string;
  field: Field;
  required: boolean;
  value: string;
  change: (text: string) => void;
}

function OneField({ name, field, required, value, change }: OneProps) {
  const label = `${field.title ?? name}${required ? "" : " (optional)"}`;
  const common = { label, hint: field.description, value, required };
  const choices = field.type === "boolean" ? ["true", "false"] : field.enum;
  if (choices) {
    const names = field.type === "boolean" ? ["Yes", "No"] : (field.enumNames ?? choices);
    return (
      <Select {...common} onChange={(event) => change(event.currentTarget.value)}>
        {required && value ? null : <option value="">–</option>}
        {choices.map((choice, at) => (
          <option key={choice} value={choice}>
            {names[at] ?? choice}
          </option>
        ))}
      </Select>
    );
  }
  const number = field.type === "number" || field.type === "integer";
  const { minimum: min, maximum: max, maxLength: maxlength } = field;
  const limits = number ? { min, max, step: field.type === "integer" ? 1 : "any" } : { maxlength };
  const known = Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
  return (
    <Input
      {...common}
      {...known}
      type={number ? "number" : "text"}
      onInput={(event) => change(event.currentTarget.value)}
    />
  );
}
