import type { Page } from 'playwright-core';

/** Figures of a page load with an empty cache. */
interface FirstLoad {
  /** Bytes over the network, compressed, with headers. */
  readonly bytes: number;
  readonly hosts: readonly string[];
}

/** Loads a page with an empty cache and waits until it shows a text. */
export async function measureFirstLoad(page: Page, url: string, shown: string): Promise<FirstLoad> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  const hosts = new Set<string>();
  session.on('Network.requestWillBeSent', ({ request }) => hosts.add(new URL(request.url).host));
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.goto(url);
  await page.getByText(shown).first().waitFor();
  return { bytes, hosts: [...hosts] };
}
