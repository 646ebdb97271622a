import { describe, expect, test } from "vitest";
import { conditions } from "../src/pages/skills/composed.tsx";
import { chosen } from "../src/pages/skills/origins.tsx";
import { BLANK, fromText, toText } from "../src/pages/skills/skill-text.ts";

describe("a SKILL.md", () => {
  test("gives its fields and its instructions", () => {
    const text =
      '---\nname: release-notes\ndescription: "Write notes: short ones."\ncapabilities: [git, notes]\nother: x\n---\n\n1. Look.\n';
    expect(fromText(text)).toEqual({
      name: "release-notes",
      description: "Write notes: short ones.",
      capabilities: ["git", "notes"],
      prompt: "1. Look.\n",
    });
  });

  test("reads line ends of any kind, and a head alone", () => {
    expect(fromText("---\r\nname: a\r\n---\r\nBody")).toEqual({ name: "a", prompt: "Body" });
    expect(fromText("---\nname: a\n---")).toEqual({ name: "a", prompt: "" });
  });

  test("is no SKILL.md without a head: a line across the page stays", () => {
    expect(fromText("Just words.")).toBeNull();
    expect(fromText("Above\n---\nname: a\n---\n")).toBeNull();
    expect(fromText("---\nnever closed")).toBeNull();
  });

  test("is written as it is read", () => {
    const draft = {
      ...BLANK,
      name: "a",
      description: "Does it.",
      category: "work",
      capabilities: ["x", "y"],
    };
    expect({ ...BLANK, ...fromText(toText({ ...draft, prompt: "Go." })) }).toEqual({
      ...draft,
      prompt: "Go.\n",
    });
  });
});

const skill = (
  name: string,
  origin: "platform" | "custom" | "composed",
  status: "proposed" | null = null,
) => ({
  ...{ name, origin, status, description: `About ${name}.`, category: "general", confidence: 1 },
  source: origin === "platform" ? ("platform" as const) : ("custom" as const),
});

test("skills are narrowed by whose they are and by words; what waits stands first", () => {
  const all = [skill("alpha", "platform"), skill("beta", "custom"), skill("gamma", "composed", "proposed")];
  const names = (...[whose, words]: ["" | "custom" | "agent" | "platform", string]) =>
    chosen(all, whose, words).map((one) => one.name);
  expect(names("", "")).toEqual(["gamma", "alpha", "beta"]);
  expect(names("agent", "")).toEqual(["gamma"]);
  expect(names("custom", "")).toEqual(["beta"]);
  expect(names("platform", "ABOUT alp")).toEqual(["alpha"]);
  expect(names("", "alpha beta")).toEqual([]);
});

test("a condition is said in its own words", () => {
  expect(conditions({ value: "$who", equals: "Ann" })).toBe("$who equals Ann");
});
