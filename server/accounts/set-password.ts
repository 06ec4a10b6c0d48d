import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { By } from '#server/platform/actor.ts';
import { AppError, invalid } from '#server/platform/app-error.ts';
import type { SignedIn } from '#server/platform/http/route.ts';
import { publicId } from '#server/platform/ids.ts';
import { type AccountRow, findAccount, lockAccount, setPasswordHash } from './account-store.ts';
import { hashPassword, requireFit } from './password.ts';
import { checkAttempt, countAttempt, forgiveAttempt } from './password-attempts.ts';
import { type AccountSessionRow, endSessions, findSession } from './session-store.ts';

/** How long after a link a new password needs no present one: whoever forgot it comes by a link. */
const freshLinkMs = 900_000;

interface NewPassword {
  readonly password: string;
  readonly currentPassword: string | undefined;
}

type Services = Pick<Runtime, 'database' | 'clock' | 'ids'>;

/**
 * Sets a password and ends all other sessions (specification section 12.2). The present one is asked for, unless there
 * is none, or the session began by a link less than 15 minutes ago; wrong ones count like those of signing in.
 * @throws 400, param password or current_password; 401 where the session ended meanwhile; 409 where another password
 * was set meanwhile; 429
 */
export async function setPassword(
  services: Services,
  signedIn: SignedIn,
  by: By,
  { password, currentPassword }: NewPassword,
): Promise<AccountRow> {
  const { database, clock } = services;
  const { accountId, sessionId } = signedIn;
  requireFit(password);
  const before = await present(services, signedIn);
  await checkPresent(services, before, by.ip, currentPassword);
  const hash = await hashPassword(password);
  return database.transaction(async (trx) => {
    const account = await lockAccount(trx, accountId);
    if (account?.password_hash !== before.account.password_hash) {
      throw new AppError('conflict', 'Another password was set just now. Sign in with that one.');
    }
    if (!(await findSession(trx, accountId, sessionId, clock.now()))) throw signedOut();
    await setPasswordHash(trx, accountId, hash);
    const ended = await endSessions(trx, accountId, sessionId);
    await recordAudit(trx, services, {
      by,
      action: 'account.password_set',
      accountId,
      target: publicId('acc', accountId),
      details: { sessions_ended: ended },
    });
    return { ...before.account, password_hash: hash };
  });
}

interface Present {
  readonly account: AccountRow;
  readonly session: AccountSessionRow;
}

async function present({ database, clock }: Services, { accountId, sessionId }: SignedIn): Promise<Present> {
  const account = await findAccount(database.pool, accountId);
  const session = await findSession(database.pool, accountId, sessionId, clock.now());
  if (!account || !session) throw signedOut();
  return { account, session };
}

/** @throws 400 where the present password is asked for and not given; 429 */
async function checkPresent(
  services: Services,
  { account, session }: Present,
  ip: string,
  currentPassword: string | undefined,
): Promise<void> {
  const { email, id, password_hash: hash } = account;
  const ageMs = services.clock.nowMs() - session.created_at.getTime();
  if (hash === null || (session.method === 'link' && ageMs < freshLinkMs)) return;
  if (currentPassword === undefined) {
    throw invalid(
      'current_password',
      'Send your present password as current_password, or sign in with a link and set the new one within 15 minutes.',
    );
  }
  const attempt = await countAttempt(services, { email, ip, accountId: id });
  if (!(await checkAttempt(services, attempt, currentPassword, hash))) {
    throw invalid(
      'current_password',
      'current_password is not your present password. If you forgot it, sign in with a link and set the new one within 15 minutes.',
    );
  }
  await services.database.transaction((trx) => forgiveAttempt(trx, attempt));
}

function signedOut(): AppError {
  return new AppError('unauthorized', 'You are not signed in any more. Sign in, and repeat this.');
}
