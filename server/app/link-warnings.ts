import type { Config } from '#server/platform/config.ts';
import type { Logger } from '#server/platform/process/logger.ts';

/** Links that begin with an address that stands for all of them lead nowhere. */
export function warnOfUnreachableLinks({ baseUrl, appUrl }: Config, logger: Logger): void {
  const unreachable = [...new Set([baseUrl, appUrl])].filter((url) =>
    /^https?:\/\/(0\.0\.0\.0|\[::\])[:/]?/.test(url),
  );
  for (const url of unreachable) {
    logger.warn(
      `Links begin with ${url}, which no phone and no browser can open: set BASE_URL to an address of this machine, such as http://192.168.1.20:3000.`,
    );
  }
}
