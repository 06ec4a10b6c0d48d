import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// The server writes the page around these files (server/dashboard/web/web-files.ts), so there is no index.html.
// Paths are relative to each file, so that APP_URL may have a path of its own.
// biome-ignore lint/style/noDefaultExport: Vite reads the default export
export default defineConfig({
  root: folder('.'),
  base: './',
  plugins: [react(), tailwind()],
  resolve: {
    alias: [
      { find: /^#contract\//, replacement: `${folder('../contract')}/` },
      { find: /^#web\//, replacement: `${folder('.')}/` },
    ],
  },
  build: {
    manifest: 'manifest.json',
    license: { fileName: 'libraries.json' },
    assetsDir: '.',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Small modules of several pages are one file: each file more costs half a kilobyte of headers.
        codeSplitting: { groups: [{ name: 'shared', minShareCount: 3, maxModuleSize: 3_000 }] },
      },
    },
  },
});
