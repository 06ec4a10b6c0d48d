import { setTimeout as pause } from 'node:timers/promises';
import { eraseReadMarks } from '#server/dashboard/conversations/read-store.ts';
import { noteErasure } from '#server/database/analyze-erased.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { eraseEventsOfContact, eraseEventsOfMessages } from '#server/events/erase-events.ts';
import {
  eraseConversations,
  eraseIdempotencyKeys,
  eraseMessages,
  hasMessagesOfContact,
  listWaitingOfContact,
} from '#server/messages/erase-messages.ts';
import { eraseEventData } from '#server/messages/erased-data.ts';
import { failQueued } from '#server/messages/fail-queued.ts';
import {
  type ErasureRow,
  listErasures,
  lockEventWalk,
  removeErasure,
  saveEventWalk,
} from '#server/opt-outs/erasure-store.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { idMax, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { lockUsage } from '#server/usage/usage-store.ts';
import {
  eraseAnswers,
  listTeamsWithErasedEvents,
  noteErasedEvents,
} from '#server/webhooks/deliveries/erase-answers.ts';

/** How many messages, with their events, one batch erases; a batch takes some 20 ms. */
const batchMax = 100;

/** The pause after a batch, as a multiple of the batch's duration, so that requests get most of the database's time. */
const pauseFactor = 2;

/** How many erasures one round of the loop continues. */
const erasuresMax = 20;
const roundMs = 1_000;

const beginning = '00000000-0000-0000-0000-000000000000';

/**
 * Continues an erasure, batch by batch: cancels waiting messages, then erases finished ones. A message that a phone has
 * is erased once its outcome is known. Each batch may be repeated, and two processes may run the same erasure.
 * @returns true once the erasure is finished and its row deleted
 */
export async function runErasure(services: Runtime, erasure: ErasureRow, budgetMs: number): Promise<boolean> {
  const { database } = services;
  const batches = new Batches(database, budgetMs);
  const { team_id: teamId } = erasure;
  const isCancelled = await batches.repeat(async (trx) => {
    // Locks the usage row before the queue (lock order): cancelled messages that were never handed out refund quota.
    await lockUsage(trx, { teamIds: [teamId] });
    const rows = await listWaitingOfContact(trx, { ...erasure, limit: batchMax });
    const waiting = rows.map((row) => row.message_id);
    await failQueued(trx, services, teamId, waiting, 'cancelled', null, true);
    return waiting.length === batchMax;
  });
  if (!isCancelled) return false;
  for (const handle of erasure.handles) {
    for (const direction of ['outbound', 'inbound'] as const) {
      let after: string = beginning;
      const isErased = await batches.repeat(async (trx) => {
        const of = { direction, handle, after, until: erasure.until_id };
        const ids = await eraseMessages(trx, teamId, of, batchMax);
        const events = await eraseEventsOfMessages(trx, teamId, ids, eraseEventData);
        await noteErasedEvents(trx, { teamId, eventIds: events });
        after = ids.at(-1) ?? after;
        return ids.length === batchMax;
      });
      if (!isErased) return false;
    }
  }
  if (!(await eraseContactEvents(batches, erasure))) return false;
  if (!(await batches.repeat((trx) => eraseAnswers(trx, teamId)))) return false;
  await database.transaction(async (trx) => {
    await eraseConversations(trx, erasure);
    await eraseReadMarks(trx, erasure);
  });
  if (await hasMessagesOfContact(database.pool, erasure)) return false;
  return database.transaction(async (trx) => {
    await eraseIdempotencyKeys(trx, erasure, services.clock);
    await noteErasure(trx, { at: services.clock.now() });
    return removeErasure(trx, erasure);
  });
}

/**
 * Erases the contact from its opt-out and opt-in events, newest first, until all counted events were found. Each batch
 * stores its position.
 */
async function eraseContactEvents(batches: Batches, { team_id, contact }: ErasureRow) {
  return batches.repeat(async (trx) => {
    const walk = await lockEventWalk(trx, { team_id, contact });
    if (!walk) return false;
    const before = walk.events_before ?? idMax;
    const step = await eraseEventsOfContact(trx, team_id, contact, before, eraseEventData);
    await noteErasedEvents(trx, { teamId: team_id, eventIds: step.events });
    const { reached } = step;
    // At the end of the feed nothing is left to find: retention has deleted the missing events.
    const left = reached === undefined ? 0 : Math.max(0, walk.contact_events - step.events.length);
    await saveEventWalk(trx, { team_id, contact, contact_events: left, events_before: reached ?? null });
    return left > 0;
  });
}

/**
 * Continues unfinished erasures: those of processes that died, large ones, and those that wait for a phone's report.
 */
export async function continueErasures(services: Runtime): Promise<void> {
  const { database, logger } = services;
  // A failed erasure does not delay the others; the next round tries it again.
  const attempt = (teamId: TeamId, run: () => Promise<unknown>) =>
    run().catch((error: unknown) =>
      logger.error(
        { err: error, team: publicId('team', teamId) },
        'erasing a contact failed; the server retries',
      ),
    );
  for (const erasure of await listErasures(database.pool, { limit: erasuresMax })) {
    const { team_id: teamId } = erasure;
    await attempt(teamId, async () => {
      if (await runErasure(services, erasure, roundMs))
        logger.info({ team: publicId('team', teamId) }, 'an erasure of a contact has ended');
    });
  }
  // Erases receivers' answers that were recorded just after another process had finished the erasure of their events.
  for (const { team_id: teamId } of await listTeamsWithErasedEvents(database.pool))
    await attempt(teamId, () => new Batches(database, roundMs).repeat((trx) => eraseAnswers(trx, teamId)));
}

/** Runs transactions with pauses between them, until a time is over. */
class Batches {
  readonly #database: Runtime['database'];
  readonly #endMs: number;

  constructor(database: Runtime['database'], budgetMs: number) {
    this.#database = database;
    this.#endMs = performance.now() + budgetMs;
  }

  /**
   * Repeats a batch until nothing is left or the time is over. @param batch one transaction; returns whether more is
   * left @returns whether all is done
   */
  async repeat(batch: (trx: Transaction) => Promise<boolean>): Promise<boolean> {
    for (;;) {
      const began = performance.now();
      const hasMore = await this.#database.transaction(batch);
      failpoint('erasure batch written');
      if (!hasMore) return true;
      if (performance.now() >= this.#endMs) return false;
      await pause(pauseFactor * (performance.now() - began));
    }
  }
}
