import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/** Builds the dashboard into a folder: `node web/build.ts <folder>`. The server runs it at its first start. */
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder to build into: node web/build.ts <folder>');
await build({
  configFile: fileURLToPath(new URL('./vite.config.ts', import.meta.url)),
  // Vite's default loader would write into node_modules, which belongs to another user than the service.
  configLoader: 'native',
  logLevel: 'warn',
  build: { outDir: folder, emptyOutDir: true },
});
