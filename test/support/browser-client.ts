import type { AccountRow } from '#server/accounts/account-store.ts';
import { makeAccount } from '#server/accounts/make-account.ts';
import { hashPassword } from '#server/accounts/password.ts';
import type { TestService } from './test-service.ts';

export interface BrowserAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; tests look into it with `field`. */
  readonly json: Record<string, unknown>;
  readonly text: string;
}

interface Asking {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
  /** undefined leaves out what a browser would send. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/**
 * What a browser does at Ownline: it keeps the cookie, says that it asks from a page of the same origin, and follows no
 * redirect, so that tests see them.
 */
export class Browser {
  readonly #baseUrl: string;
  #cookie = '';
  /** Sent with every request: `user-agent`, `x-forwarded-for`. */
  readonly #headers: Readonly<Record<string, string>>;

  constructor(baseUrl: string, headers: Readonly<Record<string, string>> = {}) {
    this.#baseUrl = baseUrl;
    this.#headers = headers;
  }

  /** `name=token`; '' while signed out. */
  get cookie(): string {
    return this.#cookie;
  }

  /** The same browser at another process of the same service. */
  at(baseUrl: string): Browser {
    const other = new Browser(baseUrl, this.#headers);
    other.#cookie = this.#cookie;
    return other;
  }

  async request(method: string, path: string, { body, form, headers }: Asking = {}): Promise<BrowserAnswer> {
    const sent: Record<string, string | undefined> = {
      accept: form || path.startsWith('/app') ? '*/*' : 'text/html',
      'sec-fetch-site': 'same-origin',
      cookie: this.#cookie || undefined,
      'content-type': body === undefined ? undefined : 'application/json',
      ...this.#headers,
      ...headers,
    };
    const content = body === undefined ? form && new URLSearchParams(form) : JSON.stringify(body);
    const response = await fetch(`${this.#baseUrl}${path}`, {
      method,
      redirect: 'manual',
      headers: Object.entries(sent).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as [string, string]],
      ),
      ...(content === undefined ? {} : { body: content }),
    });
    this.#keep(response.headers.getSetCookie());
    const text = await response.text();
    const isJson = text !== '' && response.headers.get('content-type')?.includes('json');
    const parsed: unknown = isJson ? JSON.parse(text) : {};
    return {
      status: response.status,
      headers: response.headers,
      json: parsed as Record<string, unknown>,
      text,
    };
  }

  get(path: string): Promise<BrowserAnswer> {
    return this.request('GET', path);
  }

  post(path: string, body?: unknown): Promise<BrowserAnswer> {
    return this.request('POST', path, { body });
  }

  put(path: string, body: unknown): Promise<BrowserAnswer> {
    return this.request('PUT', path, { body });
  }

  delete(path: string): Promise<BrowserAnswer> {
    return this.request('DELETE', path);
  }

  /** What a button of a form does. */
  submit(path: string, form: Readonly<Record<string, string>> = {}): Promise<BrowserAnswer> {
    return this.request('POST', path, { form });
  }

  #keep(cookies: readonly string[]): void {
    for (const cookie of cookies) {
      const [pair = ''] = cookie.split(';');
      this.#cookie = /max-age=0/i.test(cookie) ? '' : pair;
    }
  }
}

/** An account that came to life, as the opening of a link makes one. */
export async function newAccount(
  { runtime }: Pick<TestService, 'runtime'>,
  { email, password, name = 'Ada Example' }: { email: string; password?: string; name?: string },
): Promise<AccountRow> {
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  return runtime.database.transaction((trx) =>
    makeAccount(trx, runtime, { email, name, passwordHash, isProven: true, ip: '192.0.2.1', requestId: '' }),
  );
}

/** Signs in by password, or throws: for tests that are about what comes after. */
export async function signedIn(
  service: Pick<TestService, 'baseUrl'>,
  email: string,
  password: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Browser> {
  const browser = new Browser(service.baseUrl, headers);
  const answer = await browser.post('/app/sign-in', { email, password });
  if (answer.status !== 200) throw new Error(`signing in answered ${answer.status}: ${answer.text}`);
  return browser;
}
