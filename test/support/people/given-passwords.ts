import { before } from 'node:test';
import { Browser, newAccount } from '#test/support/browser/browser-client.ts';
import { givenService } from '#test/support/service/given-team.ts';

/** Password of ada@example.com and grace@example.com. */
export const password = 'a long sentence that is hard to guess';

/** A service with accounts: ada@ and grace@example.com with a password, and none@example.com without one. */
export function givenPasswords() {
  const service = givenService({ TRUST_PROXY: 'loopback' });
  before(async () => {
    await newAccount(service, { email: 'ada@example.com', password });
    await newAccount(service, { email: 'grace@example.com', password });
    await newAccount(service, { email: 'none@example.com' });
  });
  let sources = 0;
  /** Signs in from a new browser, in a client network without counted attempts. */
  const attempt = (email: string, written: string) => {
    sources += 1;
    const source = `198.51.${Math.floor(sources / 250)}.${1 + (sources % 250)}`;
    return new Browser(service.baseUrl, { 'x-forwarded-for': source }).signIn(email, written);
  };
  return { service, attempt };
}
