import { defineConfig } from "vite";

// `npm run dev` shows the page of a trace that `loadline open --port 8930` serves.
export default defineConfig({
  // Addresses relative to the page: two traces beside each other are served below /before/ and /now/.
  base: "./",
  build: { target: "es2022", modulePreload: { polyfill: false }, rolldownOptions: { input: ["index.html", "compare.html"] } },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": { target: "http://127.0.0.1:8930", changeOrigin: true } },
  },
});
