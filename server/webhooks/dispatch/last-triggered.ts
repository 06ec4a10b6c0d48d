import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { LatestTimes } from '#server/platform/concurrency/latest-times.ts';
import type { TeamId, WebhookId } from '#server/platform/ids/ids.ts';

// Locks in the order of ids, so that processes never deadlock. Only the first attempt ever, and the first of each
// minute, is notified as a change. A change each second would make every dashboard read the webhooks each second.
const write = query<{ webhookIds: WebhookId[]; times: Date[] }, { team_id: TeamId | null; id: WebhookId }>(
  'webhooks.write-triggered',
  `WITH held AS MATERIALIZED (
     SELECT id, team_id, last_triggered_at FROM webhooks WHERE id = ANY (:webhookIds::uuid[]) ORDER BY id FOR NO KEY UPDATE
   )
   UPDATE webhooks w SET last_triggered_at = greatest(w.last_triggered_at, t.at)
   FROM unnest(:webhookIds::uuid[], :times::timestamptz[]) AS t (id, at)
   WHERE w.id = t.id AND w.id = ANY (ARRAY(SELECT id FROM held))
   RETURNING w.id, (
     SELECT h.team_id FROM held h
     WHERE h.id = w.id AND (h.last_triggered_at IS NULL OR h.last_triggered_at < date_trunc('minute', t.at))
   ) AS team_id`,
  { changes: 'webhook', team: 'team_id', ids: 'id' },
);

/** Collects the time of each webhook's last attempt in this process. */
export class LastTriggered extends LatestTimes<WebhookId> {
  constructor({ database }: Runtime) {
    super((webhookIds, times) => write.run(database.pool, { webhookIds, times }));
  }
}
