import assert from 'node:assert/strict';
import type { SetupCheckName, SetupReason, SetupState } from '#contract/setup.ts';

/** User-Agent of Safari on an iPhone. */
export const iphoneAgent =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1';

interface CallOptions {
  readonly agent?: string;
  readonly signal?: AbortSignal;
}

/** An answer of the setup page's JSON. The state and the error exist only in answers that have them. */
export interface SetupAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly state: SetupState;
  readonly error: { readonly code: string; readonly message: string; readonly reason?: string };
  /** The checks by name, `state` or `state reason`. */
  readonly checks: Readonly<Partial<Record<SetupCheckName, string>>>;
}

async function call(url: string, init: RequestInit, { agent = iphoneAgent, signal }: CallOptions) {
  const response = await fetch(url, {
    ...init,
    headers: { 'user-agent': agent, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
    redirect: 'manual',
    ...(signal && { signal }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const json = isJson ? JSON.parse(text) : {};
  const words = ({ state, reason }: { state: string; reason: SetupReason | null }) =>
    reason === null ? state : `${state} ${reason}`;
  const checks = (json as Partial<SetupState>).checks ?? [];
  return {
    status: response.status,
    headers: response.headers,
    text,
    state: json,
    error: json.error,
    checks: Object.fromEntries(checks.map((check) => [check.name, words(check)])),
  } satisfies SetupAnswer;
}

/** Asks for the state of a setup, by default as an iPhone does. @param seen the version of a request to hold */
export function readState(setupUrl: string, seen?: string, options: CallOptions = {}): Promise<SetupAnswer> {
  const query = seen === undefined ? '' : `?seen=${seen}`;
  return call(`${setupUrl}/state${query}`, {}, options);
}

/** Does what a button of the setup page does. */
export function act(setupUrl: string, action: string, body: object = {}): Promise<SetupAnswer> {
  return call(`${setupUrl}/${action}`, { method: 'POST', body: JSON.stringify(body) }, {});
}

/** Opens a page or a file below the setup link. */
export async function openPage(setupUrl: string, path = '', method = 'GET') {
  const headers = { 'user-agent': iphoneAgent, 'sec-fetch-site': 'same-origin', accept: 'text/html' };
  const response = await fetch(`${setupUrl}${path}`, { method, headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, html: bytes.toString() };
}

/** The device token of a state's setup code. */
export function tokenOf({ code }: SetupState): string {
  assert.ok(code, 'the state has no setup code');
  return String(JSON.parse(code).device_token);
}
