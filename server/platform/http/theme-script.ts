import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Source expression for a Content-Security-Policy that allows exactly this script or style. */
export const sha256Source = (text: string) =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Script of every page: applies the theme chosen in this browser, before the first paint. */
export const themeScript = readFileSync(new URL('./theme.js', import.meta.url), 'utf8');
export const themeScriptSource = sha256Source(themeScript);
