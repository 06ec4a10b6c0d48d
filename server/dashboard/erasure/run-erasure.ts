import { setTimeout as pause } from 'node:timers/promises';
import { eraseReadMarks } from '#server/dashboard/conversations/read-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { eraseEventsOfContact, eraseEventsOfMessages } from '#server/events/erase-events.ts';
import {
  eraseConversations,
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

type Services = Pick<Runtime, 'database' | 'clock' | 'ids' | 'metrics'>;

/** Messages of a batch, with their events: some 20 ms. */
const batchMax = 100;

/** A batch is followed by a pause of so many times its duration: the database has most of its time for requests. */
const pauseFactor = 2;

/** Erasures that a round of the loop goes on with, and how long. */
const erasuresMax = 20;
const roundMs = 1_000;

const beginning = '00000000-0000-0000-0000-000000000000';

/**
 * Goes on with an erasure, batch by batch: cancels what waits, then erases what is finished. A message that a phone has
 * is erased once its outcome is known. Each batch may be repeated, and two processes may run the same erasure.
 * @returns whether it is finished; its row is gone then
 */
export async function runErasure(
  services: Services,
  erasure: ErasureRow,
  budgetMs: number,
): Promise<boolean> {
  const { database } = services;
  const batches = new Batches(database, budgetMs);
  const { team_id: teamId } = erasure;
  const isCancelled = await batches.repeat(async (trx) => {
    // Usage before the queue: what never went to a phone is refunded.
    await lockUsage(trx, [teamId]);
    const waiting = await listWaitingOfContact(trx, erasure, batchMax);
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
        await noteErasedEvents(trx, teamId, events);
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
    await eraseReadMarks(trx, teamId, erasure.contact, erasure.until_id);
  });
  if (await hasMessagesOfContact(database.pool, erasure)) return false;
  return removeErasure(database.pool, erasure);
}

/** The events of opting out and in, newest first, until as many are found as there are. Each batch stores its position. */
async function eraseContactEvents(batches: Batches, { team_id, contact }: ErasureRow) {
  return batches.repeat(async (trx) => {
    const walk = await lockEventWalk(trx, { team_id, contact });
    if (!walk) return false;
    const before = walk.events_before ?? idMax;
    const step = await eraseEventsOfContact(trx, team_id, contact, before, eraseEventData);
    await noteErasedEvents(trx, team_id, step.events);
    const { reached } = step;
    // At the end of the feed none is left: retention has deleted the others.
    const left = reached === undefined ? 0 : Math.max(0, walk.contact_events - step.events.length);
    await saveEventWalk(trx, { team_id, contact, contact_events: left, events_before: reached ?? null });
    return left > 0;
  });
}

/** Goes on with erasures that are not finished: of processes that died, of large ones, and of those that await a phone. */
export async function continueErasures(services: Services & Pick<Runtime, 'logger'>): Promise<void> {
  const { database, logger } = services;
  // One failure does not delay the others; it is tried again in the next round.
  const attempt = (teamId: TeamId, run: () => Promise<unknown>) =>
    run().catch((error: unknown) =>
      logger.error(
        { err: error, team: publicId('team', teamId) },
        'erasing a contact failed; the server retries',
      ),
    );
  for (const erasure of await listErasures(database.pool, erasuresMax)) {
    const { team_id: teamId } = erasure;
    await attempt(teamId, async () => {
      if (await runErasure(services, erasure, roundMs))
        logger.info({ team: publicId('team', teamId) }, 'an erasure of a contact has ended');
    });
  }
  // Where another process ended the erasure, and this one's events came after it had looked.
  for (const teamId of await listTeamsWithErasedEvents(database.pool))
    await attempt(teamId, () => new Batches(database, roundMs).repeat((trx) => eraseAnswers(trx, teamId)));
}

/** Transactions with pauses, until a time is over. */
class Batches {
  readonly #database: Services['database'];
  readonly #endMs: number;

  constructor(database: Services['database'], budgetMs: number) {
    this.#database = database;
    this.#endMs = performance.now() + budgetMs;
  }

  /** @param batch one transaction; returns whether there is more @returns whether all of it is done */
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
