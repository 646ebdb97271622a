import { describe, expect, it } from "vitest";
import { filled, formOf } from "../src/asking/form-fields.tsx";

const schema = {
  properties: {
    name: { type: "string" },
    age: { type: "integer" },
    yes: { type: "boolean" },
    colour: { type: "string", enum: ["red", "blue"] },
  },
  required: ["name"],
};

describe("a form", () => {
  it("gives back what was typed in the types that were asked for", () => {
    expect(filled(schema, { name: "Ada", age: "36", yes: "true", colour: "" })).toEqual({
      name: "Ada",
      age: 36,
      yes: true,
    });
    expect(filled(schema, { yes: "" })).toEqual({ yes: false });
  });

  it("is one only where fields are asked for", () => {
    expect(formOf({ requested_schema: schema })).toBe(schema);
    expect(formOf({ url: "https://a" })).toBeNull();
    expect(formOf(null)).toBeNull();
  });
});
