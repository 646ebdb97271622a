import { Code } from "../../markdown/code.tsx";
import { Card } from "../../ui/page.tsx";
import css from "./skills.module.css";

const ending = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** The files of a skill; those that are text can be read. */
export function Files({ files, texts }: { files: string[]; texts: { [name: string]: string } }) {
  return (
    <Card title="Files">
      {files.map((name) => {
        const text = texts[name];
        return text === undefined ? (
          <p key={name} class={css.meaning}>
            <code>{name}</code> is not text.
          </p>
        ) : (
          <details key={name} class={css.more} open={files.length === 1}>
            <summary>
              <code>{name}</code>
            </summary>
            <Code text={text} language={ending(name)} />
          </details>
        );
      })}
    </Card>
  );
}
