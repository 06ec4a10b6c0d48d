import assert from 'node:assert/strict';

/** User-Agent of Safari on an iPhone. */
export const iphoneAgent =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1';

export interface OpenedPage {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** State of each mark by its name. */
  readonly marks: Readonly<Record<string, string>>;
  /** Names of the inbound tests that have passed. */
  readonly passedTests: readonly string[];
  /** Version that the script compares with the server's. */
  readonly version: string;
}

interface PageRequest {
  readonly setupUrl: string;
  /** Path below the page. */
  readonly path?: string;
  /** Fields of a form; undefined opens the page. */
  readonly form?: Readonly<Record<string, string>>;
  readonly agent?: string;
  /** View that a person chose; '' without a choice. By default it is the view for the agent. */
  readonly view?: 'phone' | 'computer' | '';
  readonly signal?: AbortSignal;
}

/** Opens the setup page or submits one of its forms, by default as an iPhone does. */
export async function openSetupPage(request: PageRequest): Promise<OpenedPage> {
  const { setupUrl, path = '', form, agent = iphoneAgent, signal } = request;
  const { view = agent === iphoneAgent ? 'phone' : 'computer' } = request;
  const query = view !== '' && path === '' && !form ? `?view=${view}` : '';
  const response = await fetch(`${setupUrl}${path}${query}`, {
    headers: { 'user-agent': agent, 'sec-fetch-site': 'same-origin', accept: 'text/html' },
    redirect: 'manual',
    ...(form && { method: 'POST', body: new URLSearchParams({ ...(view !== '' && { view }), ...form }) }),
    ...(signal && { signal }),
  });
  return readSetupPage(response.status, response.headers, await response.text());
}

function readSetupPage(status: number, headers: Headers, html: string): OpenedPage {
  const marks = [...html.matchAll(/data-mark="(\w+)" class="mark is-(\w+)"/g)];
  const tests = [...html.matchAll(/data-test="(\w+)" class="mark is-done"/g)].map(([, name = '']) => name);
  return {
    status,
    headers,
    html,
    marks: Object.fromEntries(marks.map(([, name = '', state = '']) => [name, state])),
    passedTests: tests,
    version: /data-version="([\w-]+)"/.exec(html)?.[1] ?? '',
  };
}

/** Titles in the page's list of remaining steps. */
export function leftThings({ html }: OpenedPage): readonly string[] {
  const [, list = ''] = /<ul class="left">(.*?)<\/ul>/s.exec(html) ?? [];
  return [...list.matchAll(/<li>([^<]*?) </g)].map(([, title = '']) => title);
}

/** Device token that a page shows. */
export function shownToken({ html }: OpenedPage): string {
  const token = /dev_[\w-]{47}/.exec(html)?.[0];
  assert.ok(token, 'the page shows no device token');
  return token;
}
