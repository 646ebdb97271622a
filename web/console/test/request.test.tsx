/** @jsxImportSource preact */
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, describe, expect, it } from "vitest";
import { AnswerForm, type Request } from "../src/asking/answer-form.tsx";
import { RequestText } from "../src/asking/request-text.tsx";

const place = document.createElement("div");
afterEach(() => render(null, place));

async function show(request: Partial<Request>): Promise<void> {
  const whole = { request_id: "r1", kind: "question", question: "?", ...request } as Request;
  await act(() => {
    render(
      <>
        <RequestText request={whole} />
        <AnswerForm request={whole} />
      </>,
      place,
    );
  });
}

const buttons = () => [...place.querySelectorAll("button")].map((button) => button.textContent);

describe("a request", () => {
  it("to log in leads to the page of the server and nowhere else", async () => {
    const options = ["done", "no"];
    await show({
      kind: "login",
      question: "Log in",
      input: { url: "https://id.example/authorize?x=1" },
      options,
    });
    const link = place.querySelector("a");
    expect(link?.getAttribute("href")).toBe("https://id.example/authorize?x=1");
    expect(link?.textContent).toContain("id.example");
    expect(link?.rel).toContain("noopener");
    expect(buttons()).toEqual(["I have logged in", "Not now"]);
    await show({ kind: "login", input: { url: "javascript:alert(1)" }, options });
    expect(place.querySelector("a")).toBeNull();
  });

  it("for a form shows its fields with their names, types and limits", async () => {
    const requested_schema = {
      properties: {
        email: { type: "string", title: "Address", description: "Where to write" },
        size: { type: "integer", minimum: 1, maximum: 9 },
        plan: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"] },
        news: { type: "boolean", default: true },
      },
      required: ["email"],
    };
    await show({
      kind: "elicitation",
      input: { server: "shop", requested_schema },
      options: ["accept", "decline", "cancel"],
    });
    const labels = [...place.querySelectorAll("label")].map((label) => label.textContent);
    expect(labels).toEqual(["Address", "size (optional)", "plan (optional)", "news (optional)"]);
    expect(place.querySelector("input[type=number]")?.getAttribute("max")).toBe("9");
    expect([...place.querySelectorAll("option")].map((one) => one.textContent)).toContain("Large");
    expect(buttons()).toEqual(["Send", "Decline", "Cancel"]);
  });

  it("shows names between backticks as code, and each effect once", async () => {
    const effects = ["it changes a tree", "it deletes `x`"];
    const reason = `It may destroy something: ${effects.join("; ")}.`;
    const question = `May \`bash\` run? ${reason}`;
    await show({ kind: "permission", question, reason, effects, tool: "bash", options: ["yes", "no"] });
    expect([...place.querySelectorAll("code")].map((one) => one.textContent)).toEqual(["bash", "x"]);
    expect(place.textContent).toContain("May bash run?");
    expect(place.textContent).toContain("Why you are asked: It may destroy something:");
    expect(place.textContent?.split("it changes a tree")).toHaveLength(2);
  });

  it("of an agent's own is formatted, one of the engine's is not", async () => {
    await show({ question: "Which **one**? <b>that</b>" });
    expect(place.querySelector("strong")?.textContent).toBe("one");
    expect(place.querySelector("b")).toBeNull();
    await show({ kind: "in_doubt", question: "Did **it** run?", options: ["done", "again", "skip"] });
    expect(place.querySelector("strong")).toBeNull();
    expect(place.textContent).toContain("Did **it** run?");
  });

  it("for leave says the reason once, writes hidden signs out and offers always only with a rule", async () => {
    const reason = "It may destroy something.";
    const asked = { kind: "permission" as const, question: `May it run? ${reason}`, reason, tool: "bash" };
    await show({ ...asked, input: { command: "rm \u202ex" }, options: ["yes", "no", "always task"] });
    expect(place.textContent?.split(reason)).toHaveLength(2);
    expect(place.querySelector("pre")?.textContent).toBe("rm ⟨U+202E⟩x");
    expect(buttons()).toEqual(["Allow", "Refuse"]);
    await show({ ...asked, options: ["yes", "no", "always task"], offer: { tool: "bash", pattern: "rm *" } });
    expect(buttons()).toEqual(["Allow", "Refuse", "Always in this task"]);
    expect(place.textContent).toContain("bash: rm *");
  });
});
