import { type Erasure, erasureCountMax } from '#contract/erasure.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { eraseHandle } from '#server/contacts/change-contact.ts';
import { listOtherHandles } from '#server/contacts/contact-store.ts';
import { eraseReadMarks } from '#server/dashboard/conversations/conversation-facts.ts';
import { noteErasure } from '#server/database/analyze-erased.ts';
import { runHooks } from '#server/database/hooks.ts';
import { purgeInBatches } from '#server/database/purge-walk.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { eraseEventsOfContact, eraseEventsOfMessages } from '#server/events/erase-events.ts';
import { eraseConversationAnswers } from '#server/messages/answer-store.ts';
import {
  countMessagesOfContact,
  eraseConversations,
  eraseEventData,
  eraseIdempotencyKeys,
  eraseMessages,
  hasMessagesOfContact,
  listHandlesOfContact,
  listWaitingOfContact,
} from '#server/messages/erase-messages.ts';
import { failQueued } from '#server/messages/fail-queued.ts';
import { parseContact, parseNewContact, removeSeparators } from '#server/opt-outs/contact.ts';
import {
  type ErasureRow,
  insertErasure,
  listErasures,
  lockEventWalk,
  removeErasure,
  saveEventWalk,
} from '#server/opt-outs/erasure-store.ts';
import { eraseOptOut, findOptOutByHash } from '#server/opt-outs/opt-out-store.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { idMax, publicId, type TeamId } from '#server/platform/ids.ts';
import { lockUsage } from '#server/usage/usage.ts';
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
  const repeat = repeatFor(database, budgetMs);
  const { team_id: teamId } = erasure;
  const isCancelled = await repeat(async (trx) => {
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
      const isErased = await repeat(async (trx) => {
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
  if (!(await eraseContactEvents(repeat, erasure))) return false;
  if (!(await repeat((trx) => eraseAnswers(trx, teamId)))) return false;
  await database.transaction(async (trx) => {
    await eraseConversations(trx, erasure);
    await eraseReadMarks(trx, erasure);
    await eraseConversationAnswers(trx, erasure);
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
async function eraseContactEvents(repeat: ReturnType<typeof repeatFor>, { team_id, contact }: ErasureRow) {
  return repeat(async (trx) => {
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
    await attempt(teamId, () => repeatFor(database, roundMs)((trx) => eraseAnswers(trx, teamId)));
}

/**
 * Repeats batches, each in a transaction, with pauses between them, until a time is over.
 * @returns a function that repeats a batch while the batch returns true, because more is left. The function returns
 * false if the time is over first
 */
function repeatFor(database: Runtime['database'], budgetMs: number) {
  const endMs = performance.now() + budgetMs;
  return async (batch: (trx: Transaction) => Promise<boolean>): Promise<boolean> => {
    const pace = { budgetMs: endMs - performance.now(), pauseFactor };
    const end = await purgeInBatches(pace, async () => {
      const hasMore = await database.transaction(batch);
      failpoint('erasure batch written');
      return hasMore ? 1 : 0;
    });
    return end === 'done';
  };
}

interface ErasureRequest {
  /** The contact, in any spelling of its handle. */
  readonly contact: string;
  /** Erases the name, the note and all other handles of the person as well. */
  readonly wholeContact: boolean;
  /** True only counts, and erases nothing. */
  readonly dryRun: boolean;
  /**
   * How long the caller waits for the end of the erasure. After that time a process with the role `maintain` completes
   * it.
   */
  readonly waitMs: number;
}

/**
 * Erases a contact (specification section 12.14, decision 0038): removes its handle, texts and files from all data of a
 * team. The first transaction of each handle records its erasure, without the handle. The data is erased in small batches
 * afterwards, even after a kill.
 * @throws AppError 400, param contact
 */
export async function eraseContact(
  services: Runtime,
  teamId: TeamId,
  { contact: text, wholeContact, dryRun, waitMs }: ErasureRequest,
  by: AuditActor,
): Promise<Erasure> {
  const endMs = performance.now() + waitMs;
  const entered = await findSubject(services, teamId, text.trim());
  const found = [entered];
  // The entered handle is the last one: after a kill it still finds those that are left.
  if (wholeContact)
    for (const handle of await listOtherHandles(services.database.pool, {
      teamId,
      handle: entered.subject.contact,
    }))
      found.unshift(await findSubject(services, teamId, handle.handle));
  const erasures: ErasureRow[] = [];
  let isOptedOut = false;
  for (const each of found) {
    const key = { teamId, contactHash: services.secrets.contactHash(teamId, each.subject.contact) };
    if (dryRun) {
      isOptedOut ||= (await findOptOutByHash(services.database.pool, key)) !== undefined;
      continue;
    }
    const begun = await services.database.transaction((trx) => beginErasure(trx, services, key, each, by));
    failpoint('erasure begun');
    erasures.push(begun.erasure);
    isOptedOut ||= begun.isOptedOut;
  }
  const counts = sumOf(found.map((each) => each.counts));
  if (dryRun) return { ...counts, opted_out: isOptedOut, status: 'dry_run' };
  let isDone = true;
  for (const erasure of erasures)
    isDone = (await runErasure(services, erasure, Math.max(0, endMs - performance.now()))) && isDone;
  return { ...counts, opted_out: isOptedOut, status: isDone ? 'erased' : 'running' };
}

type Found = Awaited<ReturnType<typeof findSubject>>;

/** Records an erasure, and erases the opt-out and the contact of its handle. */
async function beginErasure(
  trx: Transaction,
  services: Runtime,
  key: Parameters<typeof eraseOptOut>[1],
  { subject, counts }: Found,
  by: AuditActor,
) {
  const { teamId } = key;
  await eraseHandle(trx, services, teamId, subject.contact);
  const { events, isOptedOut } = await eraseOptOut(trx, key);
  const erasure = await insertErasure(trx, { ...subject, contact_events: events });
  await runHooks(trx, services, 'contactErased', { teamId, handles: erasure.handles });
  await recordAudit(trx, services, { by, action: 'contact.erased', teamId, details: { ...counts } });
  return { erasure, isOptedOut };
}

/** Adds up the counts of several handles. A sum stops where a count does. */
function sumOf(all: readonly Found['counts'][]): Found['counts'] {
  const sum = (name: keyof Found['counts']) =>
    Math.min(
      erasureCountMax + 1,
      all.reduce((total, counts) => total + counts[name], 0),
    );
  return {
    messages: sum('messages'),
    waiting: sum('waiting'),
    in_flight: sum('in_flight'),
    files: sum('files'),
    events: sum('events'),
  };
}

/**
 * Finds the contact that a person entered: a handle as messages show it, or a phone number with spaces, hyphens and
 * brackets. A number without a country code that no message has is refused, because nothing would be erased.
 * @throws AppError 400, param contact
 */
async function findSubject({ database, clock, ids }: Runtime, teamId: TeamId, text: string) {
  const now = clock.now();
  const find = async (contact: string) => {
    const found = await listHandlesOfContact(database.pages, teamId, contact);
    const subject = {
      team_id: teamId,
      contact,
      handles: [...new Set([...found, text])],
      until_id: ids.next('msg', now.getTime()),
      created_at: now,
    };
    return {
      subject,
      counts: await countMessagesOfContact(database.pool, { ...subject, limit: erasureCountMax + 1 }),
    };
  };
  const written = await find(parseContact(text));
  if (written.counts.messages > 0) return written;
  const contact = parseNewContact(removeSeparators(text));
  return contact === written.subject.contact ? written : find(contact);
}
