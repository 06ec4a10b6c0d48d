import { Browser, type BrowserAnswer, newAccount } from '#test/support/browser/browser-client.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';

/** Password of both accounts. */
export const password = 'a long sentence that is hard to guess';

export interface GivenPasswords {
  readonly service: TestService;
  /** A browser in a client network without counted attempts. */
  readonly newBrowser: () => Browser;
  /** Signs in from a new browser. */
  readonly attempt: (email: string, written: string) => Promise<BrowserAnswer>;
}

/** A service with accounts: ada@ and grace@example.com with a password, and none@example.com without one. */
export async function givenPasswords(): Promise<GivenPasswords> {
  const service = await startTestService({ TRUST_PROXY: 'loopback' });
  await newAccount(service, { email: 'ada@example.com', password });
  await newAccount(service, { email: 'grace@example.com', password });
  await newAccount(service, { email: 'none@example.com' });
  let sources = 0;
  const newBrowser = () => {
    sources += 1;
    const source = `198.51.${Math.floor(sources / 250)}.${1 + (sources % 250)}`;
    return new Browser(service.baseUrl, { 'x-forwarded-for': source });
  };
  const attempt = (email: string, written: string) =>
    newBrowser().post('/app/sign-in', { email, password: written });
  return { service, newBrowser, attempt };
}
