import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findBrowser } from './find-browser.ts';

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
}

/** How every page has to look right: a desktop and a phone, in both themes. */
export const looks: readonly Look[] = [
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' },
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
];

/** Switches that restrict a browser to the service under test. */
const flags = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * A real Chromium. Its `close` ends all pages, the processes and the profile.
 * @param furtherFlags beside those of every test
 */
export async function startBrowser(furtherFlags: readonly string[] = []): Promise<Browser> {
  const { executablePath, env } = await findBrowser();
  try {
    return await chromium.launch({
      executablePath,
      env: { ...process.env, ...env },
      chromiumSandbox: canSandbox(),
      args: [...flags, ...furtherFlags],
      // Playwright would close the browser and let the process live on. A browser ends with its process anyway.
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
  } catch (error) {
    const hint = `${executablePath} did not start. CHROMIUM=<path> takes another browser.`;
    throw new Error(hint, { cause: error });
  }
}

/** A page with cookies and storage of its own, which go with it. */
export function newPage(browser: Browser, { width, height, colorScheme }: Look): Promise<Page> {
  return browser.newPage({ viewport: { width, height }, colorScheme });
}

/** Keeps a picture of the whole page in the folder SCREENSHOTS, for people to look at; without one, none. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS ?? '';
  if (folder !== '') await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** Chromium's sandbox on Linux is made of user namespaces, which it refuses to use as root and many containers lack. */
function canSandbox(): boolean {
  if (process.platform !== 'linux') return true;
  if (process.getuid?.() === 0) return false;
  const namespaces = ['--user', '--map-root-user', '--pid', '--net', '--fork', 'true'];
  return spawnSync('unshare', namespaces).status === 0;
}
