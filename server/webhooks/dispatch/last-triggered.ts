import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import type { WebhookId } from '#server/platform/ids/ids.ts';

// Locks in the order of ids: no two processes wait for each other.
const write = statement<Record<string, never>>(
  'webhooks.write-triggered',
  `WITH held AS MATERIALIZED (
     SELECT id FROM webhooks WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE
   )
   UPDATE webhooks w SET last_triggered_at = greatest(w.last_triggered_at, t.at)
   FROM unnest($1::uuid[], $2::timestamptz[]) AS t (id, at)
   WHERE w.id = t.id AND w.id = ANY (ARRAY(SELECT id FROM held))`,
);

/** Collects when each webhook last had an attempt, and writes it once a second: an attempt needs no write for it. */
export class LastTriggered {
  readonly #services: Pick<Runtime, 'database'>;
  #times = new Map<WebhookId, Date>();

  constructor(services: Pick<Runtime, 'database'>) {
    this.#services = services;
  }

  record(id: WebhookId, at: Date): void {
    this.#times.set(id, at);
  }

  async flush(): Promise<void> {
    if (this.#times.size === 0) return;
    const times = this.#times;
    this.#times = new Map();
    await write.row(this.#services.database.pool, [...times.keys()], [...times.values()]);
  }
}
