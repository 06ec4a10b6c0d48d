import type { Row } from './history.ts';
import { group, type KnownDelivery, type Ledger, matches } from './ledger.ts';
import { faultOfSignature } from './signature.ts';
import { type Violation, violation } from './violation.ts';

/** Every matching webhook accepts every event, with the same bytes each time (docs/specification.md section 6.3). */
export function deliveryViolations(ledger: Ledger): Violation[] {
  return [
    ...ledger.deliveries.flatMap((delivery) => [...forged(delivery), ...strange(ledger, delivery)]),
    ...differing(ledger),
    ...lost(ledger),
    ...repeated(ledger),
  ];
}

function forged({ row, event, webhook }: KnownDelivery): Violation[] {
  if (!event) return violation('delivery_unreadable', 'the body is no envelope', row);
  const fault =
    row.headers['webhook-id'] !== event.id
      ? `webhook-id is not ${event.id}`
      : row.headers['x-service-event'] !== event.type
        ? `x-service-event is not ${event.type}`
        : faultOfSignature(webhook?.secret ?? '', row.headers, Buffer.from(row.body, 'base64'), row.at);
  return fault === undefined ? [] : violation('signature_forged', `${event.id}: ${fault}`, row);
}

function strange({ messages }: Ledger, { row, event, webhook }: KnownDelivery): Violation[] {
  const message = event && messages.get(event.message);
  if (!event || !message) return [];
  return webhook && matches(webhook, message.team, event.type, message.number)
    ? []
    : violation('delivered_to_stranger', `${row.webhook} did not ask for ${event.id}`, webhook, row);
}

function differing({ deliveries }: Ledger): Violation[] {
  const known = deliveries.filter((delivery) => delivery.event !== undefined);
  return [...group(known, (delivery) => delivery.event?.id ?? '').entries()].flatMap(([id, same]) => {
    const [first] = same;
    const other = same.find((delivery) => delivery.row.body !== first?.row.body);
    return first && other ? violation('bytes_differ', `${id} has two bodies`, first.row, other.row) : [];
  });
}

const isTaken = ({ answer }: KnownDelivery) =>
  answer !== undefined && answer.status >= 200 && answer.status < 300;

function deliveriesByPlace({ deliveries }: Ledger): Map<string, KnownDelivery[]> {
  return group(deliveries, (delivery) => `${delivery.row.webhook} ${delivery.event?.id}`);
}

function lost(ledger: Ledger): Violation[] {
  const byPlace = deliveriesByPlace(ledger);
  return [...ledger.events.values()].flatMap((event) => {
    const message = ledger.messages.get(event.message);
    if (!message) return [];
    const owed = ledger.webhooks.filter((webhook) =>
      matches(webhook, message.team, event.type, message.number),
    );
    return owed.flatMap((webhook) => {
      const attempts = byPlace.get(`${webhook.webhook} ${event.id}`) ?? [];
      if (attempts.some(isTaken)) return [];
      const says = `${webhook.webhook} never received ${event.id}`;
      return violation('delivery_lost', says, webhook, event.seen, ...attempts.map(({ row }) => row));
    });
  });
}

/** Upper bound on the time from a receiver's answer to its record, even if the database was killed and restarts. */
const writtenAfterMs = 5_000;

/** A delivery that succeeded is attempted again only if a kill prevented its result from being recorded. */
function repeated(ledger: Ledger): Violation[] {
  const isExcused = ({ row, answer }: KnownDelivery) =>
    ledger.kills.some(
      (kill) => kill.at >= row.at - writtenAfterMs && kill.at <= (answer?.at ?? 0) + writtenAfterMs,
    );
  return [...deliveriesByPlace(ledger).values()].flatMap((attempts) => {
    const index = attempts.findIndex(
      (attempt, at) => at + 1 < attempts.length && isTaken(attempt) && !isExcused(attempt),
    );
    const [taken, after] = [attempts[index], attempts[index + 1]];
    if (!taken || !after) return [];
    const says = `${taken.row.webhook} took ${taken.event?.id} and got it again`;
    return violation('delivery_repeated', says, taken.row, taken.answer, after.row);
  });
}

/** Attempts of deliveries that had succeeded before. A kill between an answer and its record causes them. */
export function repeatsOf(ledger: Ledger): Row<'delivery_received'>[] {
  return [...deliveriesByPlace(ledger).values()].flatMap((attempts) => {
    const first = attempts.findIndex(isTaken);
    return first < 0 ? [] : attempts.slice(first, -1).map((attempt) => attempt.row);
  });
}
