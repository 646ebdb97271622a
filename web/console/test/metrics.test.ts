import { expect, test } from "vitest";
import { average, samples, sum, valuesOf } from "../src/pages/health/metrics.ts";

const TEXT = `# HELP aster_model_calls_total Model calls.
# TYPE aster_model_calls_total counter
aster_model_calls_total{model="a",outcome="ok"} 3.0
aster_model_calls_total{model="a",outcome="error"} 1.0
aster_model_calls_total{model="b \\"x\\" {1}\\\\",outcome="ok"} 2.0
aster_turns_running 4.0
aster_model_call_seconds_sum{model="a"} 6.0
aster_model_call_seconds_count{model="a"} 4.0
process_resident_memory_bytes 3.4e+08
`;

test("samples with their labels, whatever stands in them", () => {
  const all = samples(TEXT);
  expect(sum(all, "aster_model_calls_total")).toBe(6);
  expect(sum(all, "aster_model_calls_total", { model: "a", outcome: "ok" })).toBe(3);
  expect(valuesOf(all, "aster_model_calls_total", "model")).toEqual(["a", 'b "x" {1}\\']);
  expect(sum(all, "process_resident_memory_bytes")).toBe(3.4e8);
});

test("what was not measured is null, not nothing", () => {
  const all = samples(TEXT);
  expect(average(all, "aster_model_call_seconds", { model: "a" })).toBe(1.5);
  expect(average(all, "aster_model_call_seconds", { model: "b" })).toBeNull();
  expect(sum(all, "aster_no_such")).toBeNull();
});
