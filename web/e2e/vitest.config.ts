import { defineConfig } from "vitest/config";

const conditions = ["aster-source"];

// A real engine, a scripted model and a real Chromium: one file at a time, with time to spare on a busy machine.
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // A small machine may starve a browser: what failed there is run once more, alone.
    retry: process.env.CI ? 1 : 0,
    root: import.meta.dirname,
    include: process.env.SCREENSHOTS ? ["**/*.shots.ts"] : ["**/*.e2e.ts"],
    globalSetup: ["harness/build.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
