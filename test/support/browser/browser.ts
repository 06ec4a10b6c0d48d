import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findBrowser } from './find-browser.ts';
import { endAnimations } from './page-checks.ts';

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
}

/** The looks of a page: both sizes and both themes once. */
export const desktop: Look = { width: 1280, height: 800, colorScheme: 'light' };
export const phone: Look = { width: 390, height: 844, colorScheme: 'dark' };
export const looks: readonly Look[] = [desktop, phone];

/** Switches that restrict a browser to the service under test. */
const flags = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a real Chromium. Its `close` ends all processes and deletes the profile. */
export async function startBrowser(furtherFlags: readonly string[] = []): Promise<Browser> {
  const { executablePath, env } = await findBrowser();
  try {
    return await chromium.launch({
      executablePath,
      env: { ...process.env, ...env },
      chromiumSandbox: canSandbox(),
      args: [...flags, ...furtherFlags],
      // Without this option Playwright would close the browser at a signal and keep this process alive. The browser
      // ends with the process.
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
  } catch (error) {
    const hint = `${executablePath} did not start. CHROMIUM=<path> takes another browser.`;
    throw new Error(hint, { cause: error });
  }
}

/** Opens a page with its own cookies and storage. */
export function newPage(browser: Browser, { width, height, colorScheme }: Look): Promise<Page> {
  return browser.newPage({ viewport: { width, height }, colorScheme });
}

/** Saves a screenshot in the folder that SCREENSHOTS names, if that setting exists. @param fullPage false for the window */
export async function keepPicture(page: Page, name: string, fullPage = true): Promise<void> {
  const folder = process.env.SCREENSHOTS ?? '';
  if (folder === '') return;
  await endAnimations(page);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
}

/** Chromium's sandbox needs user namespaces, which it refuses to use as root and many containers lack. */
function canSandbox(): boolean {
  if (process.platform !== 'linux') return true;
  if (process.getuid?.() === 0) return false;
  const namespaces = ['--user', '--map-root-user', '--pid', '--net', '--fork', 'true'];
  return spawnSync('unshare', namespaces).status === 0;
}
