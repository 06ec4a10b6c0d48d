import { type AccountRow, createAccount } from '#server/accounts/account/account.ts';
import { hashPassword } from '#server/accounts/account/password.ts';
import { type HttpAnswer, httpRequest } from '#test/support/http/http-request.ts';
import type { TestService } from '#test/support/service/test-service.ts';

export interface BrowserAnswer extends HttpAnswer {
  /** Parsed body, which tests read with `field`. */
  readonly json: Record<string, unknown>;
}

interface Asking {
  /** Body that is sent as JSON. */
  readonly body?: unknown;
  /** Fields that are sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
  /** A header that is undefined is not sent. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/**
 * HTTP client that behaves like a browser on a page of the same origin: it keeps cookies and sends fetch metadata. It
 * follows no redirect, so that tests see the redirect, and it runs no script.
 */
export class Browser {
  readonly #baseUrl: string;
  readonly #cookies = new Map<string, string>();
  /** Headers of every request, such as `user-agent` and `x-forwarded-for`. */
  readonly #headers: Readonly<Record<string, string>>;

  /** @param headers sent with every request; the cookies of a `cookie` header are kept like received ones */
  constructor(
    baseUrl: string,
    { cookie = '', ...headers }: Readonly<Record<string, string>> & { readonly cookie?: string } = {},
  ) {
    this.#baseUrl = baseUrl;
    this.#headers = headers;
    for (const pair of cookie.split(';')) this.#keep(pair.trim());
  }

  /** The Cookie header, `name=value; name=value`; '' without cookies. */
  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Session token; '' while signed out. */
  get token(): string {
    return this.#cookies.get('ownline') ?? this.#cookies.get('__Host-ownline') ?? '';
  }

  /** The same browser for another process of the service. */
  at(baseUrl: string): Browser {
    return new Browser(baseUrl, { ...this.#headers, cookie: this.cookie });
  }

  /** @param address a path, or a whole URL as in a link */
  async request(
    method: string,
    address: string,
    { body, form, headers }: Asking = {},
  ): Promise<BrowserAnswer> {
    const url = new URL(address, this.#baseUrl);
    const sent = {
      accept: form || url.pathname.startsWith('/app') ? '*/*' : 'text/html',
      'sec-fetch-site': 'same-origin',
      cookie: this.cookie || undefined,
      'content-type':
        body === undefined ? form && 'application/x-www-form-urlencoded;charset=UTF-8' : 'application/json',
      ...this.#headers,
      ...headers,
    };
    const content = body === undefined ? form && String(new URLSearchParams(form)) : JSON.stringify(body);
    const answer = await httpRequest(url, { method, headers: sent, body: content });
    for (const cookie of answer.headers.getSetCookie()) this.#keep(cookie);
    const isJson = answer.text !== '' && answer.headers.get('content-type')?.includes('json');
    return { ...answer, json: isJson ? JSON.parse(answer.text) : {} };
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

  /** Opens a link from outside, without a referrer. */
  open(address: string): Promise<BrowserAnswer> {
    return this.request('GET', address, { headers: { 'sec-fetch-site': 'none' } });
  }

  /** Submits a form. */
  submit(
    address: string,
    form: Readonly<Record<string, string>> = {},
    headers: Asking['headers'] = {},
  ): Promise<BrowserAnswer> {
    return this.request('POST', address, { form, headers });
  }

  /** Submits the form of the sign-in page. @returns the answer: 303 if the password is right */
  signIn(email: string, password: string): Promise<BrowserAnswer> {
    return this.submit('/sign-in', { email, password, by: 'password' });
  }

  /** Asks for a magic link by mail on the sign-in page. */
  askForLink(email: string): Promise<BrowserAnswer> {
    return this.submit('/sign-in', { email, by: 'link' });
  }

  /** @param cookie a Set-Cookie header */
  #keep(cookie: string): void {
    const [pair = ''] = cookie.split(';');
    const at = pair.indexOf('=');
    if (at < 0) return;
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (/max-age=0/i.test(cookie)) this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}

/** An account with a verified address. */
export async function newAccount(
  { runtime }: Pick<TestService, 'runtime'>,
  { email, password, name = 'Ada Example' }: { email: string; password?: string; name?: string },
): Promise<AccountRow> {
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  return runtime.database.transaction((trx) =>
    createAccount(trx, runtime, {
      email,
      name,
      passwordHash,
      isEmailVerified: true,
      request: { ip: '192.0.2.1', id: '' },
    }),
  );
}

/** Signs in by password. @throws if the sign-in fails */
export async function signedIn(
  service: Pick<TestService, 'baseUrl'>,
  email: string,
  password: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Browser> {
  const browser = new Browser(service.baseUrl, headers);
  const answer = await browser.signIn(email, password);
  if (answer.status !== 303) throw new Error(`the sign-in was answered ${answer.status}: ${answer.text}`);
  return browser;
}
