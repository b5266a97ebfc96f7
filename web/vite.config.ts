/// <reference types="vitest/config" />
import { defineConfig } from "vite";

export default defineConfig({
  base: "/",
  build: {
    outDir: "../src/strobe/server/static",
    emptyOutDir: true,
    // Few files: the whole app is small, and every one is an ETag round trip.
    assetsInlineLimit: 2048,
    target: "es2022",
    // Parts that are smaller than this go into one that is loaded with them anyway: less to ask for, packed better.
    rollupOptions: { output: { experimentalMinChunkSize: 12_000 } },
  },
  test: {
    include: ["tests/**/*.test.{ts,tsx}"],
    // Property tests of a thousand rounds, on a machine that does other things too.
    testTimeout: 20_000,
  },
});
