import { type HeldCounts, heldCountMax, type RestoreState } from '#contract/restore.ts';
import { heldBefore } from '#server/database/restore-hold.ts';
import { findOpenRestore } from '#server/database/restore-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable } from '#server/database/statement.ts';
import { countHeldMails } from '#server/mail/mail-store.ts';
import { countHeldMessages } from '#server/messages/cancel-held-messages.ts';
import { countHeldDeliveries } from '#server/webhooks/deliveries/skip-held-deliveries.ts';

const nothingHeld: RestoreState = {
  held: false,
  restored_at: null,
  backup_taken_at: null,
  may_resume: false,
  waiting: null,
};

/**
 * Reads the restore hold (specification section 10.8). Only callers who may resume get the counts of waiting work,
 * because the counts cover all teams of the installation.
 */
export async function readRestoreState(
  { database }: Pick<Runtime, 'database'>,
  mayResume: boolean,
): Promise<RestoreState> {
  const restore = await findOpenRestore(database.pool);
  if (!restore) return nothingHeld;
  return {
    held: true,
    restored_at: restore.restored_at.toISOString(),
    backup_taken_at: restore.backup_taken_at.toISOString(),
    may_resume: mayResume,
    waiting: mayResume ? await countHeld(database.pool, heldBefore(restore)) : null,
  };
}

async function countHeld(db: Queryable, before: Date): Promise<HeldCounts> {
  const [messages, deliveries, mails] = await Promise.all(
    [countHeldMessages, countHeldDeliveries, countHeldMails].map((count) =>
      count(db, before, heldCountMax + 1),
    ),
  );
  return { messages: messages ?? 0, deliveries: deliveries ?? 0, mails: mails ?? 0 };
}
