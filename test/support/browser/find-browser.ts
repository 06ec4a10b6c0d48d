import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { isPackagedHere, packagedChromium } from './packaged-chromium.ts';

/** A Chromium on this machine, and the additional environment variables that it needs. */
export interface FoundBrowser {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `chromium-browser` is not in the list: on Ubuntu it is a snap, which can't read a profile in the temp folder. */
const systemPaths = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * Finds the browser that CHROMIUM names: a path, or `packaged` for the one from npm.
 * Without CHROMIUM it is Playwright's own, else one of the system, else the packaged one.
 * @throws if there is none, with the command that installs one
 */
export async function findBrowser(): Promise<FoundBrowser> {
  const chosen = process.env.CHROMIUM ?? '';
  if (chosen !== '' && chosen !== 'packaged') {
    if (!existsSync(chosen)) throw new Error(`There is no browser at CHROMIUM=${chosen}`);
    return { executablePath: chosen, env: {} };
  }
  const installed = [chromium.executablePath(), ...systemPaths].find((path) => existsSync(path));
  if (chosen === '' && installed !== undefined) return { executablePath: installed, env: {} };
  const packaged = await packagedChromium();
  if (packaged === undefined) {
    const command = isPackagedHere ? 'npm ci' : 'npx playwright-core install --with-deps chromium';
    throw new Error(`No Chromium for the browser tests. This brings one: ${command}`);
  }
  return packaged;
}
