import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { isPackagedHere, packagedChromium } from './packaged-chromium.ts';

/** A Chromium that is here, and the variables that it needs beside those of this process. */
export interface FoundBrowser {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `chromium-browser` is left out: on Ubuntu it is a snap, which can't read a profile in the temp folder. */
const systemPaths = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * The browser of CHROMIUM, which is a path, or `packaged` for the one that npm brings. Without it Playwright's own,
 * else one of the system, else the packaged one.
 * @throws where there is none, with the command that brings one
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
