import type { Config } from '#server/platform/config.ts';

/**
 * Explains why phones can't open links, a sentence for each base URL; empty where they may.
 * @param urls the URLs to check
 */
export function explainUnreachableLinks(
  { baseUrl, appUrl }: Pick<Config, 'baseUrl' | 'appUrl'>,
  urls: readonly string[] = [baseUrl, appUrl],
): string[] {
  return [...new Set(urls)].filter(isUnreachable).map((url) => {
    const setting = url === baseUrl ? 'BASE_URL' : 'APP_URL';
    return `Links begin with ${url}, which no iPhone can open: set ${setting} to an address that phones reach, such as http://192.168.1.20:3000.`;
  });
}

/** Addresses of this machine or of none, and names that only a local name server knows. */
function isUnreachable(url: string): boolean {
  const host = new URL(url).hostname.replace(/\.$/, '');
  return (
    /^(127\.[\d.]+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\]|localhost|.*\.localhost)$/.test(
      host,
    ) || !/[.:]/.test(host)
  );
}
