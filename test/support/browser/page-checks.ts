import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * Lists faults that no page may have: script errors, failed loads and requests to other origins.
 * Chromium reports violations of the content security policy as errors. The list grows while the page is used.
 * The status of the page itself is not checked.
 */
export function complaintsAbout(page: Page, origin: string): readonly string[] {
  const complaints: string[] = [];
  const pages = new Set<string>();
  page.on('console', (message) => {
    const { url } = message.location();
    const isExpected = pages.has(url) && message.text().startsWith('Failed to load');
    if (message.type() === 'error' && !isExpected) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`script: ${error}`));
  page.on('requestfailed', (request) => {
    // True for a request that the browser aborted, as the first submit of a double click.
    const isAborted = request.failure()?.errorText === 'net::ERR_ABORTED';
    const isReplaced = isAborted && request.isNavigationRequest();
    // Leaving a page aborts its requests: a long poll, data or a file of the dashboard.
    const isLeft = isAborted && /^\/(app|assets)\/|\/state$/.test(new URL(request.url()).pathname);
    if (!isReplaced && !isLeft) complaints.push(`failed: ${request.url()}`);
  });
  page.on('request', (request) => {
    const { protocol, origin: from } = new URL(request.url());
    if (request.isNavigationRequest()) pages.add(request.url());
    if (protocol !== 'data:' && from !== origin) complaints.push(`from elsewhere: ${request.url()}`);
  });
  return complaints;
}

/** Elements that overflow the page sideways. */
export function sidewaysOverflow(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > clientWidth)
      .map((element) => element.tagName + ' ' + element.textContent.slice(0, 40));
  })()`);
}

/** True if the page's background is darker than its text. */
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

/** An element that Tab reaches, and whether its focus is visible. */
export interface KeyboardStop {
  readonly name: string;
  readonly isSeen: boolean;
}

/** Presses Tab from the focused element to the end of the page, as a person without a mouse does. */
export async function keyboardStops(page: Page): Promise<KeyboardStop[]> {
  const stops: KeyboardStop[] = [];
  const focused = page.locator(':focus');
  for (;;) {
    await page.keyboard.press('Tab');
    if ((await focused.count()) === 0) return stops;
    if (stops.length > 200)
      throw new Error(`the Tab key never leaves these elements: ${stops.map(({ name }) => name)}`);
    const name = await focused.evaluate(nameOf);
    stops.push({ name, isSeen: await isFocusSeen(page) });
  }
}

/** The accessible name of an element, such as the label of a field. Runs in the page. */
const nameOf = (element: {
  readonly innerText: string;
  readonly labels?: Iterable<{ readonly innerText: string }>;
}) => [...(element.labels ?? [])].map((label) => label.innerText).join(' ') || element.innerText;

/** True if screenshots with and without the focus differ. Tab continues from the element that lost the focus. */
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

/** Ends each animation that runs once, because an animation behind a dialog may not end by itself. */
export async function endAnimations(page: Page): Promise<void> {
  await page.evaluate(
    'document.getAnimations().filter((one) => one.effect.getTiming().iterations === 1).forEach((one) => one.finish())',
  );
}

/**
 * Accessibility faults that axe finds, except minor and moderate ones. Animations that run once end first.
 * axe runs in an isolated world, where the page's content security policy does not apply.
 */
export async function seriousAxeFindings(page: Page): Promise<string[]> {
  await endAnimations(page);
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
