import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { isE164 } from '#contract/phone-number.ts';
import type { SetupRefusal } from '#contract/setup.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SetupLinkRow } from '#server/devices/device-store.ts';
import { ownOrigin, testPicturePath } from '#server/media/test-picture.ts';
import { type SendBatcher, sendMessage } from '#server/messages/send-message.ts';
import { normalizeSender } from '#server/opt-outs/normalize-sender.ts';
import { AppError, invalid } from '#server/platform/app-error.ts';
import { parseId } from '#server/platform/ids.ts';
import { testTextsMax } from './limits.ts';
import type { Setup } from './read-setup.ts';
import { getSetupFacts, releaseTestText, reserveTestText, storeTestText } from './setup-store.ts';

/**
 * Sends the setup page's test text, with a picture, as a message of the team, which counts for the month's limit
 * (specification section 11.8). A link sends at most five test texts, to two numbers at most, so that a mistyped one
 * can be corrected. The first poll of the link's phone replaces an older phone, so no test text is accepted before. A
 * request that is repeated after a lost connection sends nothing.
 * @param written the recipient's number as a person types it
 * @param after the count of test texts that the page showed; null: unknown
 * @throws AppError 400, param to, if `to` is no phone number, or none that the link may send to; 402 at the month's
 * limit; 409 before the first poll and after the last test text; any error of a send
 */
export async function sendTestText(
  services: Runtime & { readonly sends: SendBatcher },
  { number, link }: Setup,
  written: string,
  after: number | null,
): Promise<void> {
  const { pool } = services.database;
  const to = normalizeSender(written, number.phone_number);
  if (!isE164(to))
    throw setupRefusal(
      'not_a_number',
      'This is not a phone number. Type it with its country code, such as +1 415 555 0199.',
    );
  if (to === number.phone_number)
    throw setupRefusal(
      'own_number',
      'This is the number of this iPhone. Type the number of the second phone.',
    );
  const facts = await getSetupFacts(pool, link);
  if (facts.session_id === null) throw notPolledError();
  if (!(await countTestText(services, link, [to], after))) return;
  try {
    const content = `This is a test from Ownline. ${formatPhoneNumber(number.phone_number)} can send texts and pictures now.`;
    const { message } = await sendMessage(
      services,
      { teamId: link.team_id, id: null },
      { from: number.phone_number, to, content },
      undefined,
      { urlOf: () => services.config.baseUrl + testPicturePath, origin: ownOrigin },
    );
    const messageId = parseId('msg', message.id);
    if (messageId) await storeTestText(pool, { ...link, messageId });
  } catch (error) {
    await releaseTestText(pool, { ...link, to });
    throw error;
  }
}

/**
 * Counts one more test text.
 * @returns false if another test text was counted meanwhile
 * @throws AppError 409 if the link has used all of its test texts; 400, param to, if it has used all of its recipients
 */
export async function countTestText(
  { database }: Runtime,
  link: SetupLinkRow,
  recipients: readonly string[] = [],
  after: number | null = null,
): Promise<boolean> {
  if (await reserveTestText(database.pool, { ...link, recipients, after })) return true;
  const { text_count: count } = await getSetupFacts(database.pool, link);
  if (after !== null && count > after) return false;
  if (count >= testTextsMax)
    throw setupRefusal(
      'texts_used',
      `This link has sent its ${testTextsMax} test texts. Make a new setup link for more.`,
    );
  throw setupRefusal(
    'recipients_used',
    'This link sends its test texts to two numbers at most, and it has. Type one of them, or make a new setup link.',
  );
}

const ofRecipient: readonly SetupRefusal[] = ['not_a_number', 'own_number', 'recipients_used'];

/** A refused request of the setup page: 400, param to, if the recipient is the reason; otherwise 409. */
export function setupRefusal(reason: SetupRefusal, message: string): AppError {
  return ofRecipient.includes(reason)
    ? invalid('to', message, { reason })
    : new AppError('conflict', message, { details: { reason } });
}

/** The link's phone has not polled yet, so a test would reach another phone or none. */
export const notPolledError = () =>
  setupRefusal(
    'not_polled',
    'The iPhone has not asked for messages yet. Run the shortcut Ownline Outbox first.',
  );
