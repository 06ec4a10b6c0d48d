import type { Config } from '#server/platform/config.ts';
import { explainUnreachableLinks } from '#server/platform/network/unreachable-links.ts';
import type { Logger } from '#server/platform/process/logger.ts';

/** Warns at start if BASE_URL, APP_URL or DEVICE_URL is an address that no iPhone can open. Simulated phones can open them. */
export function warnOfUnreachableLinks(config: Config, logger: Logger): void {
  for (const sentence of explainUnreachableLinks(config)) logger.warn(sentence);
}
