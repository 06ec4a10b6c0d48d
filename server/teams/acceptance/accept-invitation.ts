import {
  type AccountRow,
  accountActor,
  accountExistsError,
  createAccount,
  findAccountByEmail,
  lockAccount,
  lockAccountForShare,
  parseEmail,
  parseName,
} from '#server/accounts/account/account.ts';
import { hashPassword } from '#server/accounts/account/password.ts';
import { type ClientInfo, createAccountSession, listSessions } from '#server/accounts/sessions/session.ts';
import { verifyEmail } from '#server/accounts/sign-in/verify-email.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SignedIn } from '#server/http/route.ts';
import { cancelMails } from '#server/mail/queue-mail.ts';
import { AppError, forbidden, notFound } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { publicId } from '#server/platform/ids.ts';
import {
  type AcceptanceRow,
  findAcceptance,
  markAccepted,
  recordAcceptance,
} from '#server/teams/invitations/invitation-store.ts';
import { joinTeam } from '#server/teams/invitations/join-team.ts';
import { findMembership } from '#server/teams/members/members.ts';
import { lockTeam } from '#server/teams/team/team.ts';
import { type LoadedInvitation, loadInvitation } from './load-invitation.ts';

/** Time after the first submit in which a second one counts as a double submit. */
const doubleSubmitMs = 60_000;

/** A submit of the form of an invitation's page. */
interface Acceptance {
  readonly token: string;
  readonly signedIn: SignedIn | undefined;
  /** The fields of a person without an account; a missing one is ''. */
  readonly fields: Readonly<Record<'email' | 'name' | 'password', string>>;
  /** The hidden token of the form; '' without one. */
  readonly formToken: string;
  readonly request: ClientInfo;
}

/**
 * Accepts an invitation by a submit of its page's form. An earlier submit of the same form may have accepted it, or
 * created the account of its address. Then this submit succeeds, too.
 * @returns the set-cookie headers of a session; empty for a signed-in person
 * @throws AppError 404 for an ended invitation; 401 if the account of the address has to sign in; 403 if the address
 * has to be verified; 400 for address, name or password; 409, param email, if the address has an account; 402 if the
 * plan has no free seat
 */
export async function acceptInvitation(services: Runtime, acceptance: Acceptance): Promise<string[]> {
  try {
    return await acceptOnce(services, acceptance);
  } catch (error) {
    const mayBeRepeat = error instanceof AppError && (error.status === 404 || error.status === 409);
    const cookies = mayBeRepeat ? await resolveDoubleSubmit(services, acceptance) : undefined;
    if (cookies) return cookies;
    throw error;
  }
}

/**
 * Accepts an invitation and creates its member. The team's row is locked: only one of many
 * concurrent requests joins. An error leaves the invitation usable. A person without an account gets an account and is
 * signed in.
 */
async function acceptOnce(services: Runtime, { token, signedIn, fields, formToken, request }: Acceptance) {
  const opened = await loadInvitation(services, token, signedIn);
  if (!opened) throw notFound('invitation');
  if (opened.needs === 'sign_in') throw signInRequired(opened);
  if (opened.needs === 'proof') throw verificationRequired(opened);
  const person = opened.needs === 'nothing' ? undefined : await parsePerson(services, opened, fields);
  return services.database.transaction(async (trx) => {
    const tokenHash = sha256(token);
    const team = await lockTeam(trx, { teamId: opened.invitation.team_id });
    const invitation = await markAccepted(trx, { tokenHash, now: services.clock.expiryNow() });
    if (!team || !invitation) throw notFound('invitation');
    await cancelMails(trx, services, publicId('inv', invitation.id));
    const account = person
      ? await createAccount(trx, services, { ...person, isEmailVerified: invitation.verifies_email, request })
      : await accountOf(trx, signedIn);
    const { role } = invitation;
    const by = accountActor(account, request);
    await joinTeam(trx, services, team, { account, role, by });
    if (invitation.verifies_email) await verifyEmail(trx, services, account, by, signedIn?.sessionId ?? null);
    // Reads the account again, because its password may have been set or removed meanwhile.
    const present = formToken === '' ? undefined : await lockAccountForShare(trx, { accountId: account.id });
    if (present) {
      const formTokenHash = hashFormToken(formToken, present);
      await recordAcceptance(trx, { tokenHash, formTokenHash, accountId: account.id });
    }
    return person ? createAccountSession(trx, services, account, 'invitation', request) : [];
  });
}

/** Validates all fields of a new person, then hashes the password, both before the transaction locks a row. */
async function parsePerson(
  { database }: Runtime,
  { invitation, needs }: LoadedInvitation,
  fields: Acceptance['fields'],
) {
  const email = needs === 'email_and_name' ? parseEmail(fields.email) : (invitation.email ?? '');
  const name = parseName(fields.name);
  if (needs === 'email_and_name' && (await findAccountByEmail(database.pool, email))) {
    throw accountExistsError(email);
  }
  const { password } = fields;
  const passwordHash = password === '' ? undefined : await hashPassword(password);
  return { email, name, passwordHash };
}

async function accountOf(trx: Transaction, signedIn: SignedIn | undefined): Promise<AccountRow> {
  const account = signedIn && (await lockAccount(trx, signedIn));
  if (!account) throw new AppError('unauthorized', 'You are not signed in. Sign in, and try again.');
  return account;
}

function verificationRequired({ invitation: { email } }: LoadedInvitation): AppError {
  return forbidden(
    `The address ${email} is not verified yet. Ask the operator of this server for a link to sign in as ${email}. Sign in with it, and open this invitation again.`,
  );
}

function signInRequired({ invitation, signedIn }: LoadedInvitation): AppError {
  const { email } = invitation;
  if (!signedIn) return new AppError('unauthorized', `${email} has an account. Sign in as ${email} first.`);
  return forbidden(
    `You are signed in as ${signedIn.actor.name}, and this invitation is for ${email}. Sign in as ${email} first.`,
  );
}

/**
 * Double submit: signs in a person who pressed Join twice, because a browser shows only the answer to the second
 * submit. Each form has a random token, and the accepted invitation stores the token's hash.
 * Another person with the same link has another form, and is refused.
 * @returns set-cookie headers, empty for a signed-in caller; undefined for another form, after a minute, or once the
 * session or membership of the first submit has ended
 */
async function resolveDoubleSubmit(services: Runtime, acceptance: Acceptance): Promise<string[] | undefined> {
  const { token, formToken, signedIn, request } = acceptance;
  if (formToken === '') return undefined;
  return services.database.transaction(async (trx) => {
    const since = new Date(services.clock.expiryNow().getTime() - doubleSubmitMs);
    const first = await findAcceptance(trx, { tokenHash: sha256(token), since });
    const account = first && (await lockAccountForShare(trx, { accountId: first.accepted_by }));
    if (!account || !first.form_token_hash.equals(hashFormToken(formToken, account))) return undefined;
    if (!(await findMembership(trx, { teamId: first.team_id, accountId: account.id }))) return undefined;
    if (signedIn?.accountId === account.id) return [];
    if (!(await hasLiveSession(trx, services, first))) return undefined;
    return createAccountSession(trx, services, account, 'invitation', request);
  });
}

/**
 * Whether a session that the first submit created is live: once these sessions have ended, a second submit must not
 * sign in.
 */
async function hasLiveSession(
  trx: Transaction,
  { clock }: Runtime,
  { accepted_by, accepted_at }: AcceptanceRow,
): Promise<boolean> {
  const sessions = await listSessions(trx, { accountId: accepted_by, now: clock.expiryNow() });
  return sessions.some(({ method, created_at }) => method === 'invitation' && created_at >= accepted_at);
}

/**
 * Hash of a form's token and the account's password hash, stored with the accepted invitation. After a change of the
 * password, a second submit no longer matches the hash.
 */
function hashFormToken(formToken: string, { password_hash }: Pick<AccountRow, 'password_hash'>): Buffer {
  return sha256(`${formToken} ${password_hash ?? ''}`);
}
