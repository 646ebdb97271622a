import { defaultClientConditions, defineConfig } from "vite";

// Everything the console needs is in these files: they are served by the engine itself, under a policy that lets the page
// reach nothing else.
export default defineConfig({
  base: "/console/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  resolve: {
    conditions: ["aster-source", ...defaultClientConditions],
    alias: {
      react: "preact/compat",
      "react-dom": "preact/compat",
      "react/jsx-runtime": "preact/jsx-runtime",
    },
  },
  build: {
    outDir: "../../src/aster/server/console/app",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    rolldownOptions: {
      // A library says that it is for browsers; that is all this is.
      onLog: (level, log, handle) => log.code === "MODULE_LEVEL_DIRECTIVE" || handle(level, log),
    },
  },
  server: { proxy: { "^/(?!console)": "http://127.0.0.1:8000" } },
});
