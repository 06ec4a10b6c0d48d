import { transactionQuery } from '#server/database/query.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { type ClaimedDelivery, sqlClaimedColumns } from './claim-deliveries.ts';

/** When the next attempt of a team is due; null for none. */
export const findNextDue = transactionQuery<{ teamId: TeamId }, { due_at: Date | null }>(
  'webhooks.next-due-of-team',
  'SELECT min(due_at) AS due_at FROM due_deliveries WHERE team_id = :teamId',
).one;

/** Claims the due deliveries of a demo team, in the transaction that fills it. Slots and fairness do not matter there. */
export const claimDemoDeliveries = transactionQuery<
  { teamId: TeamId; now: Date },
  Omit<ClaimedDelivery, 'body' | 'is_test'>
>(
  'webhooks.claim-demo-deliveries',
  `UPDATE due_deliveries d
   SET leased_until = :now, lease = nextval('lease_seq'), first_started_at = coalesce(d.first_started_at, :now)
   FROM webhooks w, events e
   WHERE d.team_id = :teamId AND d.due_at <= :now AND w.id = d.webhook_id AND e.team_id = d.team_id AND e.id = d.event_id
   RETURNING ${sqlClaimedColumns('d')}, e.type AS event_type`,
).rows;
