import { createHash } from 'node:crypto';
import type { SetupState } from '#contract/setup.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { sessionLifeAfterAnswerMs } from '#server/device-protocol/limits.ts';
import { findOpenSetupLink, type SetupLinkRow } from '#server/devices/device-store.ts';
import { inboundTests } from '#server/devices/inbound-tests.ts';
import { deviceUrlOf, setupLinkExpiredError } from '#server/devices/setup-link.ts';
import { findNumber, type NumberRow } from '#server/numbers/number-store.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { removeHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { type MessageId, timeOfId } from '#server/platform/ids.ts';
import { type Connection, setupCode } from '#shortcut/connection.ts';
import { chooseInstallWay, type InstallServices } from './install-way.ts';
import { testTextsMax } from './limits.ts';
import { lockOutcome, shownUnlockTime } from './lock-test.ts';
import { findPhoneAddress, formOf, setupChecks } from './setup-progress.ts';
import { getSetupFacts, type SetupFactsRow, storePassedLockTest } from './setup-store.ts';
import { readTestText } from './test-text.ts';

/** An open setup link with its token and its number. */
export interface Setup {
  readonly number: NumberRow;
  readonly link: SetupLinkRow;
  readonly token: string;
}

export type SetupServices = Runtime & InstallServices;

/** Gets an open setup link. @throws AppError 404 if it was closed, replaced, has expired or never existed */
export async function getSetup({ database, clock }: Runtime, token: string): Promise<Setup> {
  const link = await findOpenSetupLink(database.pool, { tokenHash: sha256(token), at: clock.expiryNow() });
  const number =
    link && (await findNumber(database.pool, { teamId: link.team_id, numberId: link.number_id }));
  if (!number || number.deleted_at) throw setupLinkExpiredError();
  return { number, link, token };
}

/**
 * The address and the device token for a link's phone. Both shortcuts contain them once a click has claimed the token.
 */
export function connectionOf({ config, secrets }: SetupServices, { link, token }: Setup): Connection {
  return { server: deviceUrlOf(config, link.route), deviceToken: secrets.deviceToken(link.route, token) };
}

/** The state of a setup, and what may change it without a notification. */
export interface ReadSetup {
  readonly state: SetupState;
  /** The test text that was accepted last. */
  readonly messageId: MessageId | null;
  /** True during a lock test. */
  readonly isLocking: boolean;
}

/**
 * Reads the state of a setup. The only write is the outcome of a lock test that a person started.
 * @param openAt the address at which an iPhone requested the page; undefined for other requests
 */
export async function readSetup(
  services: SetupServices,
  setup: Setup,
  openAt: string | undefined,
): Promise<ReadSetup> {
  const { config, clock, database } = services;
  const { link, number } = setup;
  const facts = await getSetupFacts(database.pool, link);
  const messageId = facts.message_ids.at(-1) ?? null;
  const textOf = async (id: MessageId | null) => (id === null ? undefined : readTestText(services, link, id));
  const [text, lockText] = [await textOf(messageId), await textOf(facts.lock_message_id)];
  const form = formOf(facts);
  const address = findPhoneAddress(config, link.route);
  const [now, sessionLifeMs] = [clock.now(), sessionLifeAfterAnswerMs(config.deviceHoldMs)];
  const input = { facts, text, lockText, form, address, openAt, now, sessionLifeMs };
  if (lockOutcome(input) === 'passed' && facts.lock_passed_at === null)
    await storePassedLockTest(database.pool, { ...link, at: now });
  const unlockAt = shownUnlockTime(input);
  const connection = facts.device_id === null ? undefined : connectionOf(services, setup);
  const state = {
    url: `${config.appUrl}/setup/${setup.token}`,
    number: { phone_number: number.phone_number, label: number.label },
    had_phone: facts.had_phone,
    address: { problem: address.problem ?? null, url: address.url, setting: address.setting },
    form,
    install: {
      26: await chooseInstallWay(services, connection, 26),
      27: await chooseInstallWay(services, connection, 27),
    },
    code: connection ? setupCode(connection) : null,
    phone: phoneOf(facts),
    checks: setupChecks(input),
    replies: inboundTests.map((test) => ({
      ...test,
      passed: facts.received_tests?.includes(test.name) ?? false,
    })),
    text: {
      to: text?.to || null,
      status: text?.status ?? null,
      error_code: text?.errorCode ?? null,
      error: text?.error ?? null,
      count: facts.text_count,
      left: testTextsMax - facts.text_count,
    },
    lock: {
      unlock_at: unlockAt?.toISOString() ?? null,
      error: facts.lock_text_refusal ?? lockText?.error ?? null,
    },
  };
  const version = createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 16);
  return { state: { version, ...state }, messageId, isLocking: unlockAt !== undefined };
}

function phoneOf({ session_id, device_name, system_version }: SetupFactsRow): SetupState['phone'] {
  if (session_id === null) return null;
  return {
    name: removeHiddenCharacters(device_name ?? ''),
    ios: removeHiddenCharacters(system_version ?? ''),
    since: timeOfId(session_id).toISOString(),
  };
}
