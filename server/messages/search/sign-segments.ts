import type { Runtime } from '#server/database/runtime.ts';
import { firstIdAt, idMax, type TeamId } from '#server/platform/ids.ts';
import { gauges } from '#server/platform/process/metrics.ts';
import { oldWriteMs, settledMs } from './limits.ts';
import { segmentMessagesMax, signAgain, takeSegment } from './segment-signature.ts';
import {
  hasOldWrite,
  insertSegment,
  listEmptied,
  listSearched,
  listTeamsToSign,
  listUnsigned,
  lockToSign,
  measureIndex,
  removeFutureSegments,
  saveSignature,
} from './segment-store.ts';

/** Teams that a round examines. An idle one costs two look-ups in indexes. */
const teamsMax = 500;

/** Messages that a transaction signs, and emptied segments that a round signs again. */
const batchMax = 4 * segmentMessagesMax;
const emptiedMax = 20;

const roundMs = 500;
const beginning = '00000000-0000-0000-0000-000000000000';

/**
 * Signer: gives settled messages a segment of the search index, team by team, and signs segments again that an erasure
 * emptied. It remembers its position among the teams, so that a round costs the same with any number of them.
 */
export class Signer {
  readonly #services: Runtime;
  #after: string = beginning;
  #isLate = false;
  #caughtUpAtMs: number;

  constructor(services: Runtime) {
    this.#services = services;
    this.#caughtUpAtMs = services.clock.elapsedMs();
    const { clock, database, metrics } = services;
    gauges({ metrics, clock, cacheMs: 60_000 }, () => measureIndex(database.pool), {
      ownline_search_index_bytes: ['Size of the search index of all messages.', Number],
    });
    gauges({ metrics }, () => clock.elapsedMs() - this.#caughtUpAtMs, {
      ownline_search_index_late_seconds: [
        'Since when some team has messages that this process should have signed for searches.',
        (ms) => ms / 1_000,
      ],
    });
  }

  async run(): Promise<void> {
    const { clock, database } = this.#services;
    await this.#signEmptied();
    const settled = firstIdAt(clock.nowMs() - settledMs);
    const page = { after: this.#after, settled, messages: segmentMessagesMax, limit: teamsMax };
    const teams = await listTeamsToSign(database.pool, page);
    const due = teams.filter(({ is_due }) => is_due);
    const isHeld = due.length > 0 && (await hasOldWrite(database.pool, { before: clock.in(-oldWriteMs) }));
    const endMs = performance.now() + roundMs;
    // The teams take turns, so that a large one delays no other.
    const left = isHeld ? [] : due.map(({ id }) => id);
    for (let id = left.shift(); id && performance.now() < endMs; id = left.shift())
      if (await signNext(this.#services, id, settled)) left.push(id);
    this.#isLate ||= isHeld || left.length > 0;
    this.#after = (teams.length === teamsMax && teams.at(-1)?.id) || beginning;
    if (this.#after !== beginning) return;
    if (!this.#isLate) this.#caughtUpAtMs = clock.elapsedMs();
    this.#isLate = false;
  }

  async #signEmptied(): Promise<void> {
    const { database } = this.#services;
    for (const { team_id: teamId, ...segment } of await listEmptied(database.pool, { limit: emptiedMax })) {
      await database.transaction(async (trx) => {
        if (!(await lockToSign(trx, { teamId }))) return;
        const all = { ...segment, before: idMax, limit: segmentMessagesMax };
        const messages = await listSearched(trx, { teamId, ...all });
        await saveSignature(trx, { ...segment, teamId, signature: signAgain(messages) });
      });
    }
  }
}

/** Signs the next settled messages of a team. @returns whether there were enough for a segment */
export function signNext({ database }: Runtime, teamId: TeamId, settled: string): Promise<boolean> {
  return database.transaction(async (trx) => {
    if (!(await lockToSign(trx, { teamId }))) return false;
    await removeFutureSegments(trx, { teamId, settled });
    const messages = await listUnsigned(trx, { teamId, settled, limit: batchMax });
    let taken = 0;
    while (messages.length - taken >= segmentMessagesMax) {
      const rest = messages.slice(taken);
      const { count, signature } = takeSegment(rest);
      const [first, last] = [rest[0], rest[count - 1]];
      if (first && last)
        await insertSegment(trx, { teamId, first_id: first.id, last_id: last.id, signature });
      taken += count;
    }
    return taken > 0;
  });
}
