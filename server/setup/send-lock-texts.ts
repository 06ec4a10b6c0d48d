import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SendBatcher } from '#server/messages/send-batcher.ts';
import { sendMessage } from '#server/messages/send-message.ts';
import { AppError } from '#server/platform/app-error.ts';
import { parseId, publicId } from '#server/platform/ids/ids.ts';
import { lockTextDelayMs, lockTextMaxMs } from './limits.ts';
import { type DueLockTextRow, endLockText, listDueLockTexts, releaseTestText } from './setup-store.ts';

type Services = Runtime & { readonly sends: SendBatcher };

/** Lock-test texts of one round; the next round sends more. */
const roundMax = 100;

/**
 * Sends the texts of lock tests whose phones are locked by now (specification section 11.8). Each text has an
 * Idempotency-Key, so that neither a restart after a kill nor another process sends it twice.
 */
export async function sendLockTexts(services: Services): Promise<void> {
  const { database, clock } = services;
  const [since, until] = [clock.in(-lockTextMaxMs), clock.in(-lockTextDelayMs)];
  const due = await listDueLockTexts(database.pool, { since, until, limit: roundMax });
  for (const text of due) await sendLockText(services, text);
}

async function sendLockText(services: Services, text: DueLockTextRow): Promise<void> {
  const { pool } = services.database;
  const { team_id: teamId, phone_number: from, lock_text_to: to } = text;
  const content = `This is a test from Ownline. ${formatPhoneNumber(from)} can send texts while it is locked.`;
  const key = `lock test ${text.id} ${text.lock_started_at.getTime()}`;
  try {
    const { message } = await sendMessage(services, { teamId, id: null }, { from, to, content }, key);
    const messageId = parseId('msg', message.id);
    if (messageId) await endLockText(pool, { ...text, messageId, refusal: null });
  } catch (error) {
    // The problem may be temporary, so the next round tries again.
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    await endLockText(pool, { ...text, messageId: null, refusal: error.message });
    await releaseTestText(pool, { ...text, to: null });
    services.logger.info(
      { numberId: publicId('num', text.number_id), code: error.code },
      'the text of a lock test was refused',
    );
  }
}
