import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * `npm run pictures -- <folder>`: writes pictures of all pages, empty, full and failing, on a desktop in light and on
 * a phone in dark. Those of the README show the demo team. The tests in test/browser/ draw them as they run.
 */
const [folder = 'pictures'] = process.argv.slice(2);
const target = resolve(folder);
mkdirSync(target, { recursive: true });
/** The time zone in which it is about noon, so that pictures of the demo show a working day. */
const hoursToNoon = 12 - new Date().getUTCHours();
const noonZone = `Etc/GMT${hoursToNoon >= 0 ? '-' : '+'}${Math.abs(hoursToNoon)}`;
const { status } = spawnSync(process.execPath, ['test/run.ts', '--slow', 'browser'], {
  env: { ...process.env, SCREENSHOTS: target, TZ: noonZone },
  stdio: 'inherit',
});
process.stdout.write(`The pictures are in ${target}\n`);
process.exitCode = status ?? 1;
