import {
  beginClaims,
  lockPromotion,
  notePromotion,
  onCheckedTimeline,
  type Promotion,
  recordLostCommits,
  startStands,
  type TimelineKey,
  vouch,
} from '#server/database/promotions.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { ClaimPermit } from '#server/messages/claim-message.ts';
import { holdAfterOutage } from '#server/messages/held-messages.ts';
import { countMissingHandOuts } from '#server/messages/message-store.ts';
import { firstIdAt, type MessageId, type TeamId } from '#server/platform/ids.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { holdsAtOnceMs, markedClaimsMax, silentPeersWaitMs, strangersWaitMs, unpurgedMs } from './limits.ts';
import type { Peers } from './peers.ts';

/** A hand-out of this process whose commit PostgreSQL acknowledged. */
interface Mark {
  readonly teamId: TeamId;
  readonly messageId: MessageId;
  readonly handOut: number;
}

/**
 * Checks promotions of standbys: whether one lost hand-outs, whose messages would go out again (decision 0060). This
 * process claims messages only while the current timeline is checked.
 *
 * Commits form a line: if the last hand-outs stand, all before stand. So each process looks for its own last hand-outs and
 * its start, and vouches for them. The start stands for the hand-outs of an earlier run. A promotion is good once every
 * process vouched that was claiming before. If a hand-out is missing, or no process can vouch for it, what is queued is held
 * until a person resumes.
 */
export class PromotionCheck {
  readonly #services: Runtime;
  readonly #peers: Peers;
  readonly #onChecked: () => void;
  /** The hand-outs of the last claims, in the order of their commits. */
  #marks: readonly (readonly Mark[])[] = [];
  /** The timeline on which this process began to claim, and its number among those that did. */
  #start: (TimelineKey & { readonly starts: number }) | undefined;
  /** Up to which message the queue is held after an outage. */
  #heldUpTo: Awaited<ReturnType<typeof holdAfterOutage>>;
  #round: Promise<void> | undefined;
  /** Since when claims are closed, and for which timeline. */
  #closed: { readonly timeline: number; readonly atMs: number } | undefined;

  /** @param onChecked wakes the polls that were held meanwhile */
  constructor(services: Runtime, peers: Peers, onChecked: () => void) {
    this.#services = services;
    this.#peers = peers;
    this.#onChecked = onChecked;
  }

  /** Claims only while the current timeline is checked, and remembers the hand-outs. */
  readonly permit: ClaimPermit = async (claim) => {
    const { database } = this.#services;
    await this.run();
    if (!database.timeline.isChecked) return undefined;
    const claims = await onCheckedTimeline(database, claim);
    if (claims) this.#remember(claims);
    return claims;
  };

  /** Forgets a hand-out that the phone never got. Its loss does no harm. */
  forget(messageId: MessageId): void {
    this.#marks = this.#marks.map((marks) => marks.filter((mark) => mark.messageId !== messageId));
  }

  /** Checks the current timeline, unless it is checked. Several calls share a round. */
  async run(): Promise<void> {
    if (this.#services.database.timeline.isChecked) return;
    this.#round ??= this.#check().finally(() => {
      this.#round = undefined;
    });
    await this.#round;
  }

  #remember(claims: Awaited<ReturnType<ClaimPermit>> & object): void {
    const marks = claims.flatMap((claim): Mark[] =>
      typeof claim === 'object' && claim.kind === 'hand_out'
        ? [
            {
              teamId: claim.handOut.team_id,
              messageId: claim.handOut.message_id,
              handOut: claim.handOut.hand_out,
            },
          ]
        : [],
    );
    if (marks.length > 0) this.#marks = [...this.#marks, marks].slice(-markedClaimsMax);
  }

  async #check(): Promise<void> {
    const { database, clock, logger } = this.#services;
    const { copy } = database.timeline;
    if (!copy) return;
    const { system, timeline } = copy;
    const key = { system, timeline };
    // The first statement writes, so it fails on a standby. All look-ups use the same connection.
    const { verdict, begun, promotion } = await database.transaction(async (trx) => {
      await notePromotion(trx, { ...key, now: clock.now() });
      const noted = await lockPromotion(trx, key);
      const decided = await this.#decide(trx, key, noted);
      if (decided === 'lost') await recordLostCommits(trx, key);
      const opened = decided === 'stands' ? await beginClaims(trx, { ...key, now: clock.now() }) : undefined;
      return { verdict: decided, begun: opened, promotion: noted };
    });
    // Time counts from here, because no process could vouch while the database did not answer.
    if (this.#closed?.timeline !== timeline) this.#closed = { timeline, atMs: clock.elapsedMs() };
    if (verdict === 'undecided') return;
    if (verdict === 'lost' && !promotion.lost_commits)
      logger.error(
        { timeline },
        `the database may have lost hand-outs in a failover, so messages that were queued are held. \`${commandLine} restore --resume\` lets them go`,
      );
    if (verdict === 'lost') {
      const { noticed_at: heldAt } = promotion;
      this.#heldUpTo = await holdAfterOutage(this.#services, heldAt, this.#heldUpTo, holdsAtOnceMs);
      if (this.#heldUpTo) return;
      this.#marks = [];
    }
    const { starts } = begun ?? (await beginClaims(database.pool, { ...key, now: clock.now() }));
    this.#start = { ...key, starts };
    database.timeline.checked = timeline;
    this.#peers.announce();
    this.#onChecked();
  }

  async #decide(
    trx: Transaction,
    key: TimelineKey,
    { vouched, lost_commits: isLost, checked_at: checkedAt }: Promotion,
  ): Promise<'stands' | 'lost' | 'undecided'> {
    const { database, clock, config } = this.#services;
    const purgedId = firstIdAt(config.retentionMs ? clock.nowMs() - config.retentionMs + unpurgedMs : 0);
    const marks = this.#marks.flat().filter(({ messageId }) => messageId > purgedId);
    if ((await countMissingHandOuts(trx, columnsOf(marks))) > 0) return 'lost';
    if (this.#start && !(await startStands(trx, this.#start))) return 'lost';
    if (checkedAt !== null) return 'stands';
    if (isLost) return 'lost';
    const waitedMs = this.#closed?.timeline === key.timeline ? clock.elapsedMs() - this.#closed.atMs : 0;
    // This process has just started. The processes that claimed before the promotion check it, if there are any.
    if (!this.#start)
      return waitedMs < strangersWaitMs || this.#peers.claiming.length > 0 ? 'undecided' : 'lost';
    await vouch(trx, { ...key, processId: this.#peers.id });
    if (this.#peers.claiming.every((id) => vouched.includes(id))) return 'stands';
    if (waitedMs < silentPeersWaitMs) return 'undecided';
    return database.timeline.wasSynchronous ? 'stands' : 'lost';
  }
}

const columnsOf = (marks: readonly Mark[]) => ({
  teamIds: marks.map(({ teamId }) => teamId),
  messageIds: marks.map(({ messageId }) => messageId),
  handOuts: marks.map(({ handOut }) => handOut),
});
