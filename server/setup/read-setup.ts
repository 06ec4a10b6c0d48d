import type { Runtime } from '#server/database/runtime.ts';
import { sessionLifeAfterAnswerMs } from '#server/device-protocol/limits.ts';
import { findOpenSetupLink, type SetupLinkRow } from '#server/devices/device-store.ts';
import { failureMessage } from '#server/messages/message-status.ts';
import { findMessage } from '#server/messages/message-store.ts';
import { findNumber, type NumberRow } from '#server/numbers/number-store.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { MessageId } from '#server/platform/ids/ids.ts';
import { findPhoneAddress, type PhoneAddress } from './phone-address.ts';
import { type SetupProgress, setupProgress, type TestText } from './setup-progress.ts';
import { getSetupFacts, storePassedLockTest } from './setup-store.ts';

/** An open setup link with its token and its number. */
export interface Setup {
  readonly number: NumberRow;
  readonly link: SetupLinkRow;
  readonly token: string;
}

type Services = Pick<Runtime, 'database' | 'clock' | 'config'>;

/**
 * Finds an open setup link. @returns undefined if the link was used up, replaced, has expired or never existed, or if
 * its number was deleted
 */
export async function findSetup({ database, clock }: Services, token: string): Promise<Setup | undefined> {
  const link = await findOpenSetupLink(database.pool, { tokenHash: sha256(token), at: clock.expiryNow() });
  const number =
    link && (await findNumber(database.pool, { teamId: link.team_id, numberId: link.number_id }));
  return number && !number.deleted_at ? { number, link, token } : undefined;
}

export interface SetupState {
  readonly setup: Setup;
  readonly progress: SetupProgress;
  readonly address: PhoneAddress;
  /** The test text that was accepted last. */
  readonly messageId: MessageId | null;
}

/**
 * Reads the state of a setup (specification section 11.8). Only the outcome of a lock test that a person started is
 * written.
 * @param openAt the address at which an iPhone requested the page; undefined for other requests
 */
export async function readSetup(
  services: Services,
  setup: Setup,
  openAt: string | undefined,
): Promise<SetupState> {
  const { database, clock, config } = services;
  const { link } = setup;
  const facts = await getSetupFacts(database.pool, link);
  const messageId = facts.message_ids.at(-1);
  const address = findPhoneAddress(config, link.route);
  const progress = setupProgress({
    number: setup.number,
    facts,
    testText: messageId === undefined ? undefined : await readTestText(services, link, messageId),
    lockText:
      facts.lock_message_id === null ? undefined : await readTestText(services, link, facts.lock_message_id),
    address: { ...address, openAt },
    now: clock.now(),
    sessionLifeMs: sessionLifeAfterAnswerMs(config.deviceHoldMs),
  });
  if (progress.lockTest === 'passed' && facts.lock_passed_at === null)
    await storePassedLockTest(database.pool, link, clock.now());
  return { setup, progress, address, messageId: messageId ?? null };
}

/** Reads a test text. @returns undefined if its message was purged */
export async function readTestText(
  { database }: Pick<Runtime, 'database'>,
  link: SetupLinkRow,
  messageId: MessageId,
): Promise<TestText | undefined> {
  const message = await findMessage(database.pool, { teamId: link.team_id, messageId });
  if (!message) return undefined;
  const { to_handle: to, status, error_code, device_error, may_have_been_sent, media_failure } = message;
  const error = error_code ? failureMessage(error_code, device_error, may_have_been_sent, media_failure) : '';
  return { to, status, error };
}
