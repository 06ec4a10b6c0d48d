import { useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import type { AuditEntry } from '#contract/audit.ts';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { WebhookList } from '#contract/webhook.ts';
import { teamQuery } from '#web/api/team-requests.ts';
import { apiKeysQuery } from '#web/api-keys/api-key-queries.ts';
import { numberName } from '#web/numbers/number-name.ts';
import { numbersQuery } from '#web/numbers/number-queries.ts';
import { useTeam } from '#web/shell/session.ts';
import { membersQuery } from '#web/team/member-queries.ts';

/** Names of resources by id; names of people also by e-mail address. */
export type TargetNames = ReadonlyMap<string, string>;

/** Fields of `details` that can name the target of an entry, in order of preference. */
const namingDetails = ['phone_number', 'url', 'name', 'email'] as const;

/** Names for the entries of the audit log. Deleted resources get the name that an entry itself contains. */
export function useTargetNames(entries: readonly AuditEntry[]): TargetNames {
  const team = useTeam();
  const members = useQuery(membersQuery(team.id)).data?.members ?? [];
  const numbers = useQuery(numbersQuery(team.id)).data?.numbers ?? [];
  const keys = useQuery(apiKeysQuery(team.id)).data?.keys ?? [];
  const webhooks =
    useQuery(teamQuery<Static<typeof WebhookList>>(team.id, 'webhook', '/webhooks')).data?.webhooks ?? [];
  const names = new Map<string, string>();
  for (const { target, action, details } of entries) {
    // A change of a number has the number's label as `name`, which does not identify the number.
    if (target === '' || action === 'number.changed') continue;
    const name = namingDetails.map((field) => details[field]).find((value) => typeof value === 'string');
    if (typeof name === 'string' && name !== '' && !names.has(target))
      names.set(target, formatPhoneNumber(name));
  }
  for (const number of numbers) names.set(number.id, numberName(number));
  for (const { id, name } of keys) names.set(id, name);
  for (const { id, url } of webhooks) names.set(id, url);
  for (const { id, email, name } of members) names.set(id, name).set(email, name);
  return names;
}
