import type { EventType } from '#contract/event.ts';
import type { Queryable } from '#server/database/statement.ts';
import { findLiveNumberByPhone } from '#server/numbers/number-store.ts';
import { invalid } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import type { AddressRange } from '#server/platform/network/ip-address.ts';
import { validateUrl } from '#server/platform/outbound-http/validate-url.ts';

/**
 * Refuses a URL that events can't be sent to, as far as that is known without a DNS look-up (specification section
 * 4.4). Each attempt checks the addresses of the host.
 * @param allowed ranges of EGRESS_ALLOW_CIDRS
 * @throws AppError 400, param url
 */
export function validateWebhookUrl(url: string, allowed: readonly AddressRange[]): void {
  const validated = validateUrl(url, allowed);
  if ('refused' in validated) throw invalid('url', validated.refused);
}

/** Removes repeated event types and keeps their order. @throws AppError 400, param events, for an empty list */
export function validateEvents(events: readonly EventType[]): EventType[] {
  if (events.length === 0) throw invalid('events', 'events must name at least one type of event.');
  return [...new Set(events)];
}

/** Accepts only numbers of the team, pending ones included. @throws AppError 400, param phone_number */
export async function requireOwnNumber(db: Queryable, teamId: TeamId, phoneNumber: string): Promise<void> {
  if (await findLiveNumberByPhone(db, { teamId, phoneNumber })) return;
  throw invalid(
    'phone_number',
    `${phoneNumber} is not a number of this team. Connect it first, or send null for the events of all numbers.`,
  );
}
