import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * Faults that no page may have: errors of its scripts, failed loads, and anything that comes from elsewhere. Chromium
 * prints breaches of the content security policy as errors. The list grows while the page is used; the status of the
 * page itself is the test's own business.
 */
export function complaintsAbout(page: Page, origin: string): readonly string[] {
  const complaints: string[] = [];
  const pages = new Set<string>();
  // A browser with windows asks for an icon that no page named, a headless shell doesn't.
  const icon = `${origin}/favicon.ico`;
  page.on('console', (message) => {
    const { url } = message.location();
    const isExpected = (pages.has(url) || url === icon) && message.text().startsWith('Failed to load');
    if (message.type() === 'error' && !isExpected) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`script: ${error}`));
  page.on('requestfailed', (request) => {
    // The second submit of a double click replaces the first.
    const isAborted = request.failure()?.errorText === 'net::ERR_ABORTED';
    const isReplaced = isAborted && request.isNavigationRequest();
    // A page that is left ends what it reads: a long poll, data or a file of the dashboard.
    const isLeft = isAborted && /^\/(app|assets)\/|\/progress$/.test(new URL(request.url()).pathname);
    if (!isReplaced && !isLeft) complaints.push(`failed: ${request.url()}`);
  });
  page.on('request', (request) => {
    const { protocol, origin: from } = new URL(request.url());
    if (request.isNavigationRequest()) pages.add(request.url());
    if (protocol !== 'data:' && from !== origin) complaints.push(`from elsewhere: ${request.url()}`);
  });
  return complaints;
}

/** The elements that overflow a page sideways; empty for a page that fits. */
export function sidewaysOverflow(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > clientWidth)
      .map((element) => element.tagName + ' ' + element.textContent.slice(0, 40));
  })()`);
}

/** Whether the page's ground is darker than its text. */
export function isDark(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const context = new OffscreenCanvas(1, 1).getContext('2d');
    const brightness = (color) => {
      context.fillStyle = color;
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
      return red + green + blue;
    };
    const { backgroundColor, color } = getComputedStyle(document.body);
    return brightness(backgroundColor) < brightness(color);
  })()`);
}

/** Something that Tab reaches, and whether one sees that it did. */
export interface KeyboardStop {
  readonly name: string;
  readonly isSeen: boolean;
}

/** Goes through the page by Tab, as a person without a mouse does, from the focus to the end of the page. */
export async function keyboardStops(page: Page): Promise<KeyboardStop[]> {
  const stops: KeyboardStop[] = [];
  const focused = page.locator(':focus');
  for (;;) {
    await page.keyboard.press('Tab');
    if ((await focused.count()) === 0) return stops;
    if (stops.length > 200) throw new Error(`Tab goes in a circle: ${stops.map(({ name }) => name)}`);
    const name = await focused.evaluate(nameOf);
    stops.push({ name, isSeen: await isFocusSeen(page) });
  }
}

/** The accessible name of an element: a field has its label. Runs in the page. */
const nameOf = (element: {
  readonly innerText: string;
  readonly labels?: Iterable<{ readonly innerText: string }>;
}) => [...(element.labels ?? [])].map((label) => label.innerText).join(' ') || element.innerText;

/** Compares pictures with and without the focus. Tab continues from the element that lost the focus. */
async function isFocusSeen(page: Page): Promise<boolean> {
  const focused = page.locator(':focus');
  const box = await focused.boundingBox();
  if (box === null) return false;
  const around = 8;
  const clip = {
    x: Math.max(0, box.x - around),
    y: Math.max(0, box.y - around),
    width: box.width + 2 * around,
    height: box.height + 2 * around,
  };
  const withFocus = await page.screenshot({ clip });
  await page.evaluate('document.activeElement.blur()');
  const without = await page.screenshot({ clip });
  return !withFocus.equals(without);
}

/**
 * The accessibility faults that axe finds, except minor and moderate ones.
 * It runs in a world of its own beside the page, where the page's content security policy holds nothing back.
 */
export async function seriousAxeFindings(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const { frameTree } = await session.send('Page.getFrameTree');
    const { executionContextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      worldName: 'axe',
    });
    const evaluate = async (expression: string) => {
      const answer = await session.send('Runtime.evaluate', {
        expression,
        contextId: executionContextId,
        awaitPromise: true,
        returnByValue: true,
      });
      if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception?.description);
      return answer.result.value as unknown;
    };
    await evaluate(`${axe.source}; undefined`);
    const findings = await evaluate(`axe.run().then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, help, nodes }) => nodes.map(({ target }) => id + ': ' + help + ': ' + target)))`);
    return findings as string[];
  } finally {
    await session.detach();
  }
}
