import { type AttemptFailure, attemptFailures } from '#contract/attempt-outcome.ts';
import { failuresMax } from '#contract/webhook.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { MailContent } from '#server/mail/mail-template.ts';
import { queueMails } from '#server/mail/queue-mail.ts';
import { serverItself } from '#server/platform/actor.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { listEmailsOf } from '#server/teams/members/member-store.ts';
import { findTeam } from '#server/teams/team/team-store.ts';
import { findMissedSince } from '#server/webhooks/endpoints/find-missed-since.ts';
import { skipPending } from '#server/webhooks/queue/pending-deliveries.ts';
import type { CountedWebhook } from './failure-store.ts';
import { markDisabled } from './failure-store.ts';

export type DisableServices = Runtime;

/**
 * Disables a webhook after too many failures in a row, in the transaction that counts the last failure (specification
 * section 6.3). Pending deliveries are skipped. Owners and admins get a single mail, because the count reaches the
 * limit only once.
 */
export async function disableWebhook(
  trx: Transaction,
  services: DisableServices,
  webhook: CountedWebhook,
  lastFailure: AttemptFailure,
): Promise<void> {
  const { id: webhookId, team_id: teamId, url } = webhook;
  const at = services.clock.now();
  await markDisabled(trx, { webhookId, failures: failuresMax, at });
  const { since } = await findMissedSince(trx, { teamId, webhookId });
  await skipPending(trx, { webhookId, at });
  const target = publicId('wh', webhookId);
  await recordAudit(trx, services, {
    by: serverItself,
    action: 'webhook.disabled',
    teamId,
    target,
    details: { url, failures: failuresMax, last_failure: lastFailure },
  });
  const team = await findTeam(trx, teamId);
  const message = disabledMessage({
    team: team?.name ?? '',
    url,
    lastFailure,
    address: `${services.config.baseUrl}/v1/webhooks/${target}`,
    page: `${services.config.appUrl}/teams/${publicId('team', teamId)}/webhooks/${target}`,
    since: since ?? at,
  });
  await queueMails(trx, services, await listEmailsOf(trx, teamId, 'owner', 'admin'), message);
}

function disabledMessage(about: {
  readonly team: string;
  readonly url: string;
  readonly lastFailure: AttemptFailure;
  /** The webhook's URL in the API. */
  readonly address: string;
  /** The URL of the webhook's page in the dashboard. */
  readonly page: string;
  readonly since: Date;
}): MailContent {
  const { team, url, lastFailure, address, page, since } = about;
  const { host } = new URL(url);
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
