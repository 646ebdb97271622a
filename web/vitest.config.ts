import { defineConfig } from "vitest/config";

const conditions = ["aster-source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/*/test/**/*.test.ts", "console/test/**/*.test.ts?(x)"],
    environment: "happy-dom",
    environmentOptions: { happyDOM: { url: "http://localhost:8000/console" } },
  },
});
