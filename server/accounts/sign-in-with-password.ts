import type { Done } from '#server/audit/record-audit.ts';
import type { RefusalLog } from '#server/audit/refusal-log.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { type AccountRow, findAccountByEmail, holdAccount } from './account-store.ts';
import { byAccount } from './by-account.ts';
import { readEmail } from './email.ts';
import { KnownBrowser } from './known-browser.ts';
import { checkAttempt, countAttempt, refundAttempt } from './login-throttle.ts';
import { type Entered, type Entrance, openSession } from './open-session.ts';
import { withoutPassword } from './other-ways.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly request: Entrance;
}

/**
 * Signs in by address and password (specification section 12.2). An unknown address runs the same statements and one
 * argon2id like a wrong password, and gets the same answer. A wrong one is noted for the account, and nobody waits for it.
 * @throws 400 for what is no address; 401; 429 where too many failed
 */
export async function signInWithPassword(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'> & {
    readonly refusals: Pick<RefusalLog, 'write'>;
  },
  { email: written, password, request }: Credentials,
): Promise<Entered> {
  const { database } = services;
  const email = readEmail(written);
  const account = await findAccountByEmail(database.pool, email);
  const browser = account && new KnownBrowser(services).find(request, account);
  const attempt = await countAttempt(services, { email, ip: request.ip, accountId: account?.id, browser });
  const isRight = await checkAttempt(services, attempt, password, account?.password_hash);
  if (!account) throw refusal(services);
  if (!isRight) {
    services.refusals.write(wrongPassword(account, request));
    throw refusal(services);
  }
  return database.transaction(async (trx) => {
    // Somebody may have set another password meanwhile, which ended all sessions: this one must not outlive that.
    const present = await holdAccount(trx, account.id);
    if (present?.password_hash !== account.password_hash) throw refusal(services);
    await refundAttempt(trx, attempt);
    return { account, cookies: await openSession(trx, services, account, 'password', request) };
  });
}

function wrongPassword(account: AccountRow, request: Entrance): Done {
  return {
    by: byAccount(account, request),
    action: 'account.signed_in',
    accountId: account.id,
    details: { method: 'password' },
    refusedWith: 'unauthorized',
  };
}

function refusal({ config }: Pick<Runtime, 'config'>): AppError {
  return new AppError(
    'unauthorized',
    `This address and password do not belong together. Check both, or sign in with ${withoutPassword(config)}.`,
  );
}
