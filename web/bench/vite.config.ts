// Builds the pages of the browser benchmark (benchmarks/dashboard.py) from the dashboard's own modules.
import { resolve } from "node:path";
import { defineConfig } from "vite";

const here = import.meta.dirname;

export default defineConfig({
  root: here,
  base: "./",
  build: {
    target: "es2022",
    rollupOptions: {
      input: {
        charts: resolve(here, "charts.html"),
        gallery: resolve(here, "gallery.html"),
        runs: resolve(here, "runs.html"),
        search: resolve(here, "search.html"),
        explore: resolve(here, "explore.html"),
      },
    },
  },
});
