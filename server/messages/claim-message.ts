import { again, GroupCommit } from '#server/database/group-commit.ts';
import { type Queryable, query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { defaultPacing } from '#server/numbers/pacing.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { DeviceId, DeviceSessionId, NumberId, TeamId } from '#server/platform/ids.ts';
import { type ClaimFacts, claimStatement, type HandOut } from './claim-statement.ts';
import { phoneCommitWindowMs, phonesWaitingMax } from './limits.ts';

/** A poll that asks for a message: only the newest poll of the current session gets one. */
export interface ClaimingPoll {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
  readonly deviceId: DeviceId;
  readonly sessionId: DeviceSessionId;
  /** The poll's number within its session. */
  readonly poll: number;
}

/** No message may go, or the poll is not the newest one of the current session. */
export const nothing = { kind: 'nothing' } as const;

/** The outcome of a claim: a message, or the time from which pacing lets a message go. */
export type Claim =
  | { readonly kind: 'hand_out'; readonly handOut: HandOut }
  | typeof nothing
  | {
      readonly kind: 'paced';
      /** When pacing lets a message go; null if only a reply ends the wait. */
      readonly until: Date | null;
      /**
       * True if pacing holds back all messages of the number; false if it holds back only messages to some contacts.
       */
      readonly isWholeNumber: boolean;
    };

/**
 * Claims the next message for each poll, and waits for no lock of a row.
 * @param sessionLifeMs life of a session after an answer
 * @param db a connection of the pool for batches
 * @returns `again` for a poll whose number, session or message another transaction has locked or changed
 */
export async function claimMessages(
  { database, clock, config }: Runtime,
  claimants: readonly ClaimingPoll[],
  sessionLifeMs: number,
  db: Queryable = database.batches,
): Promise<(Claim | typeof again)[]> {
  const now = clock.now();
  const rows = await claimStatement.rows(db, {
    teamIds: claimants.map(({ teamId }) => teamId),
    numberIds: claimants.map(({ numberId }) => numberId),
    deviceIds: claimants.map(({ deviceId }) => deviceId),
    sessionIds: claimants.map(({ sessionId }) => sessionId),
    polls: claimants.map(({ poll }) => poll),
    now,
    leasedUntil: clock.in(config.deviceLeaseMs, now),
    sessionsLiveUntil: clock.in(sessionLifeMs, now),
    defaultPacing: defaultPacing(config.pacing),
  });
  const factsOf = new Map(rows.map((facts) => [facts.n, facts]));
  return claimants.map((_, index) => decideClaim(factsOf.get(index + 1), now));
}

/** Names the outcome of a claim (specification section 11.4). */
export function decideClaim(facts: ClaimFacts | undefined, now: Date): Claim | typeof again {
  if (!facts || facts.is_active === false || facts.is_newest === false) return nothing;
  const { team_id, message_id, ready_at: readyAt } = facts;
  if (team_id !== null && message_id !== null)
    return { kind: 'hand_out', handOut: { ...facts, team_id, message_id } };
  // Another transaction has locked the number or the session, or has locked or changed the queue.
  if (facts.is_active === null || facts.is_newest === null || facts.is_requeued || facts.head !== null)
    return again;
  if (!facts.has_queue) return nothing;
  if (readyAt !== null && readyAt > now) return { kind: 'paced', until: readyAt, isWholeNumber: true };
  if (facts.mode === 'strict')
    return { kind: 'paced', until: facts.new_contacts_until, isWholeNumber: false };
  return nothing;
}

export const findNumbersWithMessages = query<{ numberIds: readonly NumberId[] }, { number_id: NumberId }>(
  'messages.numbers-waiting',
  `SELECT w.number_id FROM unnest(:numberIds::uuid[]) AS w (number_id)
   WHERE EXISTS (SELECT FROM send_queue q WHERE q.number_id = w.number_id AND q.is_ready OFFSET 0)`,
).rows;

type Claims = readonly (Claim | typeof again)[];
export type ClaimPermit = (claim: (db: Queryable) => Promise<Claims>) => Promise<Claims | undefined>;

type Claimant = ClaimingPoll & { readonly hasEnded: () => boolean };

/**
 * Claims messages in a group commit.
 * @param sessionLifeMs life of a session after its poll is answered
 * @param permit runs the claims of a batch; undefined if this process may not claim now
 */
export function createClaimBatcher(
  services: Runtime,
  sessionLifeMs: number,
  permit: ClaimPermit = (claim) => claim(services.database.batches),
) {
  const commit = new GroupCommit<Claimant, Claim>({
    name: 'claims',
    services,
    run: async (claimants) => {
      const open = claimants.filter(({ hasEnded }) => !hasEnded());
      if (open.length === 0) return claimants.map(() => nothing);
      const claims = await permit((db) => claimMessages(services, open, sessionLifeMs, db));
      failpoint('messages claimed');
      return claimants.map((claimant) => claims?.[open.indexOf(claimant)] ?? nothing);
    },
    teamOf: ({ teamId }) => teamId,
    windowMs: phoneCommitWindowMs,
    waitingMax: phonesWaitingMax,
    refuse: () => unavailable('Too many phones wait for their message. Poll again in a moment.'),
  });
  return {
    /** @param hasEnded whether the poll has ended; a poll that ended while its claim waited gets no message */
    claim: (claimant: ClaimingPoll, hasEnded: () => boolean) => commit.add({ ...claimant, hasEnded }),
  };
}
