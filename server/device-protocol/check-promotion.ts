import {
  lockPromotion,
  notePromotion,
  onCheckedTimeline,
  type Promotion,
  recordLostCommits,
  settlePromotion,
  type TimelineKey,
  vouch,
} from '#server/database/promotions.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { ClaimPermit } from '#server/messages/claim-message.ts';
import { holdAfterOutage } from '#server/messages/held-messages.ts';
import { countHandOuts } from '#server/messages/message-store.ts';
import type { MessageId } from '#server/platform/ids.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { markLifeMs, marksMax, silentPeersWaitMs, strangersWaitMs } from './limits.ts';
import type { Peers } from './peers.ts';

/** A hand-out of this process whose commit PostgreSQL acknowledged. */
interface Mark {
  readonly messageId: MessageId;
  readonly handOut: number;
  readonly atMs: number;
}

/**
 * Checks promotions of standbys: whether one lost hand-outs, whose messages would go out again (decision 0060). This
 * process claims messages only while the current timeline is checked.
 *
 * Commits form a line: if the last hand-outs stand, all before stand. So each process looks for its own last hand-outs,
 * and vouches for them. A promotion is good once every process vouched that was claiming before. If a hand-out is missing,
 * or no process can vouch for it, what is queued is held until a person resumes.
 */
export class PromotionCheck {
  readonly #services: Runtime;
  readonly #peers: Peers;
  readonly #onChecked: () => void;
  #marks: readonly Mark[] = [];
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
    this.#marks = this.#marks.filter((mark) => mark.messageId !== messageId);
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
    const atMs = this.#services.clock.elapsedMs();
    const marks = claims.flatMap((claim): Mark[] =>
      typeof claim === 'object' && claim.kind === 'hand_out'
        ? [{ messageId: claim.handOut.message_id, handOut: claim.handOut.hand_out, atMs }]
        : [],
    );
    if (marks.length > 0) this.#marks = [...this.#marks, ...marks].slice(-marksMax);
  }

  async #check(): Promise<void> {
    const { database, clock, logger } = this.#services;
    const { copy } = database.timeline;
    if (!copy) return;
    const { system, timeline } = copy;
    const key = { system, timeline };
    if (this.#closed?.timeline !== timeline) this.#closed = { timeline, atMs: clock.elapsedMs() };
    // The first statement writes, so it fails on a standby. All look-ups use the same connection.
    const { verdict, noticedAt } = await database.transaction(async (trx) => {
      await notePromotion(trx, { ...key, now: clock.now() });
      const promotion = await lockPromotion(trx, key);
      const decided = await this.#decide(trx, key, promotion);
      if (decided === 'lost') await recordLostCommits(trx, key);
      if (decided === 'stands') await settlePromotion(trx, { ...key, now: clock.now() });
      return { verdict: decided, noticedAt: promotion.noticed_at };
    });
    if (verdict === 'undecided') return;
    if (verdict === 'lost') {
      logger.error(
        { timeline },
        `a failover of the database may have lost hand-outs: messages that were queued are held. \`${commandLine} restore --resume\` lets them go`,
      );
      await holdAfterOutage(this.#services, noticedAt);
      await settlePromotion(database.pool, { ...key, now: clock.now() });
      this.#marks = [];
    }
    database.timeline.checked = timeline;
    this.#peers.announce();
    this.#onChecked();
  }

  async #decide(
    trx: Transaction,
    key: TimelineKey,
    { vouched, lost_commits: isLost, checked_at: checkedAt }: Promotion,
  ): Promise<'stands' | 'lost' | 'undecided'> {
    const { database, clock } = this.#services;
    const earliestMs = clock.elapsedMs() - markLifeMs;
    const marks = this.#marks.filter(({ atMs }) => atMs >= earliestMs);
    if ((await countHandOuts(trx, columnsOf(marks))) < marks.length) return 'lost';
    if (checkedAt !== null) return 'stands';
    if (isLost) return 'lost';
    const waitedMs = clock.elapsedMs() - (this.#closed?.atMs ?? 0);
    // This process has just started. The processes that claimed before the promotion check it, if there are any.
    if (database.timeline.checked === 0) return waitedMs < strangersWaitMs ? 'undecided' : 'lost';
    await vouch(trx, { ...key, processId: this.#peers.id });
    if (this.#peers.claiming.every((id) => vouched.includes(id))) return 'stands';
    if (waitedMs < silentPeersWaitMs) return 'undecided';
    return database.timeline.wasSynchronous ? 'stands' : 'lost';
  }
}

const columnsOf = (marks: readonly Mark[]) => ({
  messageIds: marks.map(({ messageId }) => messageId),
  handOuts: marks.map(({ handOut }) => handOut),
});
