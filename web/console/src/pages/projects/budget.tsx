import { Meter } from "../../ui/meter.tsx";
import css from "./budget.module.css";
import { type Project, spent } from "./projects.ts";

/** What the project has used up so far, and of how much. */
export function Budget({ project }: { project: Project }) {
  return (
    <dl class={css.budget}>
      {spent(project).map(({ name, value, share }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {share === null ? null : (
            <dd>
              <Meter label={`${name} used`} value={share} text={value} tone={share >= 1 ? "bad" : "accent"} />
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}
