import { type HeldCounts, heldCountMax, type RestoreState } from '#contract/restore.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { restoresChannel } from '#server/database/channels.ts';
import type { Queryable } from '#server/database/query.ts';
import {
  findOpenHold,
  heldBefore,
  insertOutage,
  markResumed,
  type OpenHold,
  type ResumeChoices,
} from '#server/database/restore-hold.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { countHeldMails } from '#server/mail/mail-store.ts';
import {
  cancelHeldMessages,
  countHeldMessages,
  holdAfterOutage,
  releaseHeld,
} from '#server/messages/held-messages.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { listTeams } from '#server/teams/team/team.ts';
import { countHeldDeliveries, skipHeldDeliveries } from '#server/webhooks/deliveries/skip-held-deliveries.ts';

export interface ResumeResult {
  /** false if nothing was held. */
  readonly resumed: boolean;
  readonly cancelledMessages: number;
  readonly skippedDeliveries: number;
}

/**
 * Ends the hold after a restore or an outage on all processes (specification section 10.8). Messages are cancelled and
 * deliveries skipped before the hold ends. If the process is killed in between, the hold stays, and another call
 * completes the work. Each team's audit log names the actor.
 */
export async function resumeRestore(
  services: Runtime,
  by: AuditActor,
  choices: ResumeChoices,
): Promise<ResumeResult> {
  const { database, clock, logger, restoreHold } = services;
  const hold = await findOpenHold(database.pool);
  if (!hold) return { resumed: false, cancelledMessages: 0, skippedDeliveries: 0 };
  const cancelledMessages = choices.cancelMessages ? await cancelHeldMessages(services, hold) : 0;
  const skips = choices.skipDeliveries && hold.reason === 'restore';
  const skippedDeliveries = skips ? await skipHeldDeliveries(services, heldBefore(hold)) : 0;
  const resumed = await database.transaction(async (trx) => {
    if (!(await markResumed(trx, { at: clock.now(), ...by, ...choices }))) return false;
    for (const team of await listTeams(trx)) {
      await recordAudit(trx, services, {
        by,
        action: `${hold.reason}.resumed`,
        teamId: team.id,
        details: {
          backup_taken_at: hold.backup_taken_at?.toISOString() ?? null,
          cancel_messages: choices.cancelMessages,
          skip_deliveries: skips,
        },
      });
    }
    trx.notifyAfterCommit(restoresChannel);
    return true;
  });
  if (resumed) await releaseHeld(services, 'restore', 'outage');
  await restoreHold.check(database.pool, logger);
  return { resumed, cancelledMessages, skippedDeliveries };
}

/** Holds all that is queued now, as after an outage, for an operator who promoted a standby or went back to a snapshot. */
export async function holdQueuedMessages(services: Runtime): Promise<void> {
  const at = services.clock.now();
  await insertOutage(services.database.pool, { at });
  await holdAfterOutage(services, at);
}

const nothingHeld: RestoreState = {
  held: false,
  reason: null,
  held_at: null,
  backup_taken_at: null,
  may_resume: false,
  waiting: null,
};

/**
 * Reads the hold after a restore or an outage (specification section 10.8). Only callers who may resume get the counts
 * of waiting work, because the counts cover all teams of the installation.
 */
export async function readRestoreState({ database }: Runtime, mayResume: boolean): Promise<RestoreState> {
  const hold = await findOpenHold(database.pool);
  if (!hold) return nothingHeld;
  return {
    held: true,
    reason: hold.reason,
    held_at: hold.held_at.toISOString(),
    backup_taken_at: hold.backup_taken_at?.toISOString() ?? null,
    may_resume: mayResume,
    waiting: mayResume ? await countHeld(database.pool, hold) : null,
  };
}

/** Counts what is held. An outage holds only messages. */
async function countHeld(db: Queryable, hold: OpenHold): Promise<HeldCounts> {
  const limit = heldCountMax + 1;
  const messages = await countHeldMessages(db, hold, limit);
  if (hold.reason === 'outage') return { messages, deliveries: 0, mails: 0 };
  const [deliveries, mails] = await Promise.all([
    countHeldDeliveries(db, heldBefore(hold), limit),
    countHeldMails(db, heldBefore(hold), limit),
  ]);
  return { messages, deliveries, mails };
}
