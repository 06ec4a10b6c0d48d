import type { Page } from 'playwright-core';

/** A load of a page in an empty cache. */
export interface FirstLoad {
  /** Bytes that came over the network, compressed, headers included. */
  readonly bytes: number;
  readonly hosts: readonly string[];
  /** After the navigation began. */
  readonly firstPaintMs: number;
  /** The largest content, after the navigation began. */
  readonly largestPaintMs: number;
}

/** A phone on slow 4G, as Lighthouse simulates it. */
export const slow4g = { latencyMs: 150, bytesPerSecond: (1.6 * 1_000_000) / 8 };

/**
 * Loads a page in an empty cache and waits until it shows a text.
 * @param network undefined for the speed of this machine
 */
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
