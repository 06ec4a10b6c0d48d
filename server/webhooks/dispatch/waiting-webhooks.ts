import { BoundedMap } from '#server/platform/bounded-map.ts';
import { LowWaterMark, riseAfterMs } from '#server/platform/concurrency/low-water-mark.ts';
import type { WebhookId } from '#server/platform/ids.ts';
import { type Lane, lanes } from '#server/webhooks/limits.ts';
import type { QueuedWebhook } from '#server/webhooks/queue/pending-deliveries.ts';
import type { ExaminedWebhook, SeenWebhook } from './claim-deliveries.ts';

/** Upper bound on the webhooks whose marks are kept. */
const marksMax = 10_000;

type Marks = Readonly<Record<Lane, LowWaterMark>>;

/**
 * Webhooks that may have deliveries in the queue, in the order of their last claim, and the due times from which claims
 * read their lanes. Notifications and looks at the whole queue add webhooks; a claim that sees no delivery removes them.
 */
export class WaitingWebhooks {
  readonly #waiting = new Set<WebhookId>();
  readonly #marks = new BoundedMap<WebhookId, Marks>(marksMax);

  get ids(): WebhookId[] {
    return [...this.#waiting];
  }

  add(ids: Iterable<WebhookId>): void {
    for (const id of ids) this.#waiting.add(id);
  }

  /**
   * Removes webhooks before a claim, so that a notification during the claim adds them again. Their marks lie before now,
   * even after the service's time has stepped back.
   */
  take(ids: readonly WebhookId[], now: Date): ExaminedWebhook[] {
    const latest = now.getTime() - riseAfterMs;
    return ids.map((id) => {
      this.#waiting.delete(id);
      const marks = this.#marksOf(id);
      const from = (lane: Lane) => Math.min(marks[lane].position, latest);
      return { id, live: from('live'), retry: from('retry'), replay: from('replay'), manual: from('manual') };
    });
  }

  /** Records what a claim saw. @param atMs a reading of `performance.now()` */
  see(webhooks: readonly SeenWebhook[], atMs: number): void {
    for (const { id, waits, ...due } of webhooks) {
      if (waits) this.#waiting.add(id);
      const marks = this.#marksOf(id);
      for (const lane of lanes) marks[lane].see(due[lane], atMs);
    }
  }

  /** Adds a webhook with deliveries, even if their due times lie below its marks. */
  lower(id: WebhookId, due: Partial<Omit<QueuedWebhook, 'id'>>): void {
    this.#waiting.add(id);
    const marks = this.#marksOf(id);
    for (const lane of lanes) {
      const position = due[lane];
      if (typeof position === 'number') marks[lane].lower(position);
    }
  }

  /** Forgets all marks. Their webhooks are examined from the first row on. */
  forgetMarks(): void {
    this.add(this.#marks.keys());
    this.#marks.clear();
  }

  #marksOf(id: WebhookId): Marks {
    const mark = () => new LowWaterMark();
    const marks = this.#marks.get(id) ?? { live: mark(), retry: mark(), replay: mark(), manual: mark() };
    this.#marks.set(id, marks);
    return marks;
  }
}
