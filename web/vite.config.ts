import { defineConfig } from "vite";

// `npm run dev` shows the page of a trace that `loadline open --port 8930` serves.
export default defineConfig({
  build: { target: "es2022", modulePreload: { polyfill: false } },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": { target: "http://127.0.0.1:8930", changeOrigin: true } },
  },
});
