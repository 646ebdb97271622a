import { Plus } from "lucide-preact";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { useLoaded } from "../../lib/loaded.ts";
import { Button } from "../../ui/button.tsx";
import { Entry, List } from "../../ui/list.tsx";
import { Empty, Loading, Page, Problem } from "../../ui/page.tsx";
import { Search } from "../../ui/search.tsx";
import { Segments } from "../../ui/segments.tsx";
import { chosen, Marks, WHOSE, type Whose } from "./origins.tsx";
import { skills } from "./routes.ts";

/** Every skill there is, by whom it was written. */
export function SkillList() {
  const [, navigate] = useLocation();
  const [search, setSearch] = useState("");
  const [whose, setWhose] = useState<Whose>("");
  const { value, error, again } = useLoaded(skills, []);
  const found = chosen(value ?? [], whose, search);
  return (
    <Page
      title="Skills"
      about="Instructions for a kind of work, with the files it needs. A model knows each by a line and reads the rest when it is called for."
      actions={
        <Button kind="primary" onClick={() => navigate("/skills/-new")}>
          <Plus size={15} aria-hidden="true" /> New skill
        </Button>
      }
    >
      <Search label="Search skills" value={search} onSearch={setSearch}>
        <Segments label="Whose" value={whose} options={WHOSE} onChoose={setWhose} />
      </Search>
      {error ? <Problem error={error} again={again} /> : null}
      {value === null && !error ? <Loading /> : null}
      {found.length ? (
        <List label="Skills">
          {found.map((skill) => (
            <Entry
              key={skill.name}
              name={skill.name}
              href={`/skills/${encodeURIComponent(skill.name)}`}
              badges={<Marks skill={skill} />}
              about={skill.description}
            />
          ))}
        </List>
      ) : null}
      {value && found.length === 0 ? (
        <Empty title="No skill fits">
          {whose === "agent" && !search
            ? "Your agent keeps code and calls it will need again; they appear here."
            : "Try other words, or write one."}
        </Empty>
      ) : null}
    </Page>
  );
}
