import { defineConfig } from "vite";

// Three files with fixed names: the program embeds them and serves them with their hashes as ETags.
export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    outDir: "dist",
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rollupOptions: { output: { entryFileNames: "page.js", assetFileNames: "page[extname]" } },
  },
});
