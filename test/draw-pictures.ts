import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * `npm run pictures -- <folder>`: writes pictures of all pages, empty, full and failing, at two sizes and in two
 * themes. The tests in test/browser/ draw them as they run.
 */
const [folder = 'pictures'] = process.argv.slice(2);
const target = resolve(folder);
mkdirSync(target, { recursive: true });
const { status } = spawnSync(process.execPath, ['test/run.ts', '--slow', 'browser'], {
  env: { ...process.env, SCREENSHOTS: target },
  stdio: 'inherit',
});
process.stdout.write(`The pictures are in ${target}\n`);
process.exitCode = status ?? 1;
