import type { Page } from 'playwright-core';

/** Measurements of a page load with an empty cache. */
export interface FirstLoad {
  /** Bytes over the network, compressed, with headers. */
  readonly bytes: number;
  readonly hosts: readonly string[];
  /** Time of the first paint since the navigation began. */
  readonly firstPaintMs: number;
  /** Time of the largest contentful paint since the navigation began. */
  readonly largestPaintMs: number;
}

/** Slow 4G, as Lighthouse simulates it. */
export const slow4g = { latencyMs: 150, bytesPerSecond: (1.6 * 1_000_000) / 8 };

/** Loads a page with an empty cache and waits until it shows a text. @param network undefined for full speed */
export async function measureFirstLoad(
  page: Page,
  url: string,
  shown: string,
  network?: typeof slow4g,
): Promise<FirstLoad> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  if (network) {
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: network.latencyMs,
      downloadThroughput: network.bytesPerSecond,
      uploadThroughput: network.bytesPerSecond,
    });
  }
  let bytes = 0;
  const hosts = new Set<string>();
  session.on('Network.requestWillBeSent', ({ request }) => hosts.add(new URL(request.url).host));
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.addInitScript(`
    window.paints = {};
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) window.paints[name] = startTime;
    }).observe({ type: 'paint', buffered: true });
    new PerformanceObserver((list) => {
      for (const { startTime } of list.getEntries()) window.paints.largest = startTime;
    }).observe({ type: 'largest-contentful-paint', buffered: true });
  `);
  await page.goto(url);
  await page.getByText(shown).first().waitFor();
  const paints = await page.evaluate<Record<string, number>>('window.paints');
  return {
    bytes,
    hosts: [...hosts],
    firstPaintMs: Math.round(paints['first-contentful-paint'] ?? Number.NaN),
    largestPaintMs: Math.round(paints.largest ?? Number.NaN),
  };
}
