import { texts } from './texts.ts';

/** Patterns of browsers in a user agent. The first match counts, because user agents also name other browsers. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Mac OS X/, 'Mac'],
  [/Windows/, 'Windows'],
  [/CrOS/, 'Chromebook'],
  [/Linux/, 'Linux'],
];

const find = (names: typeof browsers, userAgent: string) =>
  names.find(([pattern]) => pattern.test(userAgent))?.[1];

/** Names a browser: `Safari on iPhone`. A program is named by its user agent: `curl/8.5`. */
export function browserName(userAgent: string): string {
  const browser = find(browsers, userAgent);
  const system = find(systems, userAgent);
  if (browser && system) return texts.sessions.browser({ name: browser, system });
  return browser ?? system ?? (userAgent.split(' ')[0] || texts.sessions.unknownBrowser);
}

/** The type of this device, `Mac` for example, as the default name of its passkey. */
export function deviceName(): string {
  return find(systems, navigator.userAgent) ?? texts.sessions.thisDevice;
}
