import { type AttemptFailure, attemptFailures } from '#contract/attempt-outcome.ts';
import { failuresMax } from '#contract/webhook.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { MailContent } from '#server/mail/mail-template.ts';
import { queueMails } from '#server/mail/queue-mail.ts';
import { serverItself } from '#server/platform/actor.ts';
import { type DeliveryId, publicId, type TeamId, type WebhookId } from '#server/platform/ids.ts';
import { listEmailsOf } from '#server/teams/members/members.ts';
import { findTeam } from '#server/teams/team/team.ts';
import { findMissedSince } from '#server/webhooks/endpoints/find-missed-since.ts';
import { skipPending } from '#server/webhooks/queue/pending-deliveries.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';
import type { ClassifiedResult } from './result-statement.ts';

/* Failures in a row of a webhook: they are counted under its lock, and the tenth one switches it off. */

/** The columns of a webhook that decide whether a result counts, read under the row's lock. */
interface CountedWebhook {
  readonly id: WebhookId;
  readonly team_id: TeamId;
  readonly url: string;
  readonly is_active: boolean;
  readonly failure_count: number;
  readonly generation: number;
}

/**
 * Locks webhooks FOR UPDATE in the order of their ids, against changes and other writers of results. FOR UPDATE is
 * needed because a webhook at the limit skips its pending deliveries, which other writers might lock in another order.
 */
export const lockFailureCounts = transactionQuery<{ webhookIds: WebhookId[] }, CountedWebhook>(
  'webhooks.lock-failure-counts',
  `SELECT id, team_id, url, is_active, failure_count, generation FROM webhooks WHERE id = ANY (:webhookIds::uuid[])
   ORDER BY id FOR UPDATE`,
).rows;
const leased = transactionQuery<
  { webhookIds: WebhookId[]; deliveryIds: DeliveryId[]; leases: number[] },
  { delivery_id: DeliveryId }
>(
  'webhooks.find-leased',
  `SELECT d.delivery_id FROM unnest(:webhookIds::uuid[], :deliveryIds::uuid[], :leases::bigint[])
     AS i (webhook_id, delivery_id, lease)
   CROSS JOIN LATERAL (
     SELECT delivery_id FROM due_deliveries
     WHERE webhook_id = i.webhook_id AND delivery_id = i.delivery_id AND lease = i.lease FOR UPDATE
   ) d`,
);
export const writeFailureCounts = transactionQuery<
  { webhookIds: WebhookId[]; counts: number[] },
  Pick<CountedWebhook, 'team_id' | 'id'>
>(
  'webhooks.write-failure-counts',
  `UPDATE webhooks w SET failure_count = c.failure_count
   FROM unnest(:webhookIds::uuid[], :counts::smallint[]) AS c (id, failure_count) WHERE w.id = c.id RETURNING w.team_id, w.id`,
  { changes: 'webhook', team: 'team_id', ids: 'id' },
).run;

const markDisabled = transactionQuery<
  { webhookId: WebhookId; at: Date },
  Pick<CountedWebhook, 'team_id' | 'id'>
>(
  'webhooks.disable',
  `UPDATE webhooks SET failure_count = ${failuresMax}, is_active = false, disabled_at = :at, disabled_by = 'failures' WHERE id = :webhookId
   RETURNING team_id, id`,
  { changes: 'webhook', team: 'team_id', ids: 'id' },
).run;

/**
 * Locks the deliveries whose lease has not ended, so that no other process can claim them before this commit.
 * @returns the ids of the locked deliveries
 */
export async function lockLeasedDeliveries(
  trx: Transaction,
  claimed: readonly Pick<ClaimedDelivery, 'webhook_id' | 'delivery_id' | 'lease'>[],
): Promise<Set<DeliveryId>> {
  const rows = await leased.rows(trx, {
    webhookIds: claimed.map(({ webhook_id }) => webhook_id),
    deliveryIds: claimed.map(({ delivery_id }) => delivery_id),
    leases: claimed.map(({ lease }) => lease),
  });
  return new Set(rows.map((row) => row.delivery_id));
}

interface Counted {
  readonly results: readonly ClassifiedResult[];
  /** The new failure counts of webhooks whose count changed. At `failuresMax` a webhook must be disabled. */
  readonly counts: ReadonlyMap<WebhookId, number>;
}

/**
 * Counts failures in the order of the results (specification section 6.3). A failure raises a webhook's count, a
 * success resets it to zero, and counting stops at `failuresMax`. Attempts that began before
 * the webhook was last changed or enabled, and results after the end of their lease, do not count.
 * @param leased deliveries whose attempt still has its lease
 */
export function countFailures(
  webhooks: readonly CountedWebhook[],
  leased: ReadonlySet<DeliveryId>,
  classified: readonly ClassifiedResult[],
): Counted {
  const known = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
  const counts = new Map<WebhookId, number>();
  const results = classified.map((one) => {
    const { claimed, outcome } = one.result;
    const webhook = known.get(claimed.webhook_id);
    const before = webhook && (counts.get(webhook.id) ?? webhook.failure_count);
    const isCounted =
      one.isCounted &&
      webhook?.is_active === true &&
      webhook.generation === claimed.generation &&
      before !== failuresMax &&
      leased.has(claimed.delivery_id);
    if (isCounted) counts.set(claimed.webhook_id, outcome === 'succeeded' ? 0 : (before ?? 0) + 1);
    return { ...one, isCounted };
  });
  for (const { id, failure_count } of webhooks) if (counts.get(id) === failure_count) counts.delete(id);
  return { results, counts };
}

/**
 * Disables a webhook after too many failures in a row, in the transaction that counts the last failure (specification
 * section 6.3). Pending deliveries are skipped. Owners and admins get a single mail, because the count reaches the
 * limit only once.
 */
export async function disableWebhook(
  trx: Transaction,
  services: Runtime,
  webhook: CountedWebhook,
  lastFailure: AttemptFailure,
): Promise<void> {
  const { id: webhookId, team_id: teamId, url } = webhook;
  const at = services.clock.now();
  await markDisabled(trx, { webhookId, at });
  const { since } = await findMissedSince(trx, { teamId, webhookId });
  await skipPending(trx, { webhookId, at });
  await recordAudit(trx, services, {
    by: serverItself,
    action: 'webhook.disabled',
    teamId,
    target: publicId('wh', webhookId),
    details: { url, failures: failuresMax, last_failure: lastFailure },
  });
  const team = await findTeam(trx, { teamId });
  const mail = disabledMail(services.config, team?.name ?? '', webhook, lastFailure, since ?? at);
  await queueMails(trx, services, await listEmailsOf(trx, teamId, 'owner', 'admin'), mail);
}

/** @param since the time from which the receiver has missed events */
function disabledMail(
  { baseUrl, appUrl }: Runtime['config'],
  team: string,
  webhook: CountedWebhook,
  lastFailure: AttemptFailure,
  since: Date,
): MailContent {
  const id = publicId('wh', webhook.id);
  const address = `${baseUrl}/v1/webhooks/${id}`;
  const page = `${appUrl}/teams/${publicId('team', webhook.team_id)}/webhooks/${id}`;
  const { host } = new URL(webhook.url);
  return {
    subject: `A webhook of ${team} was switched off`,
    heading: 'A webhook was switched off',
    paragraphs: [
      `${failuresMax} attempts in a row to deliver events of the team ${team} to ${host} failed. Nothing more is sent there.`,
      `The last failure: ${attemptFailures[lastFailure]}`,
      'No event is lost: those that were waiting, and those that come, are kept as skipped.',
      'Once the receiver works again, open the webhook, enable it, and have it sent what it missed. From a shell, with a key of the team that has the permission webhooks:manage in place of own_live_your_key:',
    ],
    commands: [
      'KEY=own_live_your_key',
      call('PUT', address, { active: true }),
      call('POST', `${address}/replay`, { since: since.toISOString(), only: 'all' }),
    ],
    action: { label: 'Open the webhook', url: page },
    footnote:
      'You get this because you are an owner or an admin of the team. It is sent once each time a webhook is switched off by failures.',
  };
}

/** A shell command that calls the API. */
function call(method: string, url: string, body: Readonly<Record<string, unknown>>): string {
  return [
    `curl -X ${method} '${url}' \\`,
    `-H "x-api-key: $KEY" -H 'content-type: application/json' \\`,
    `-d '${JSON.stringify(body)}'`,
  ].join('\n');
}
