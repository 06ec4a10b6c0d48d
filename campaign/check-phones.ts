import { rowsOf } from './history.ts';
import { group, inversions, type Ledger } from './ledger.ts';
import { type Violation, violation } from './violation.ts';

/** Each message is handed out once and in order, and reports are kept (docs/specification.md 3.2, 11). */
export function phoneViolations(ledger: Ledger): Violation[] {
  return [...stops(ledger), ...handOuts(ledger), ...order(ledger), ...reports(ledger)];
}

function stops({ rows }: Ledger): Violation[] {
  return rowsOf(rows, 'poll_stopped').flatMap((row) =>
    violation('phone_stopped', `the phone of ${row.number} got a stop: ${row.reason}`, row),
  );
}

function handOuts({ handOutsByMessage, messages }: Ledger): Violation[] {
  return [...handOutsByMessage.values()].flatMap(([row, again]) => {
    if (!row) return [];
    const found: Violation[] = [];
    if (again)
      found.push(...violation('handed_out_twice', `${row.message} was handed out twice`, row, again));
    const message = messages.get(row.message);
    if (message?.direction !== 'outbound')
      found.push(...violation('message_without_cause', `${row.message} was handed out and not sent`, row));
    else if (message.number !== row.number || message.to !== row.to || message.content !== row.text)
      found.push(
        ...violation('message_changed', `${row.message} was handed out as another`, message.cause, row),
      );
    return found;
  });
}

/** A sender waits for the answer to each message of a conversation, so the order of answers is that of acceptance. */
function order({ rows, handOutsByMessage, accepted, messages }: Ledger): Violation[] {
  const held = new Set(rowsOf(rows, 'message_held').map(({ message }) => message));
  const indexes = new Map<string, number>();
  for (const { message } of accepted) if (!indexes.has(message)) indexes.set(message, indexes.size);
  const conversations = group(
    [...handOutsByMessage.values()].flatMap(([row]) => (row && !held.has(row.message) ? row : [])),
    (row) => `${row.number} ${messages.get(row.message)?.to}`,
  );
  return [...conversations.values()]
    .flatMap((rows) => inversions(rows, (row) => indexes.get(row.message) ?? 0))
    .flatMap(([before, row]) =>
      violation('handed_out_of_order', `${before.message} overtook ${row.message}`, before, row),
    );
}

/** The final status of a message is that of its phone's report. */
function reports({ reportsAccepted, listed }: Ledger): Violation[] {
  return [...reportsAccepted.values()].flatMap((rows) => {
    const last = rows.find((row) => row.outcome === 'delivered') ?? rows[0];
    const end = last && listed.get(last.message)?.[0];
    if (!last || !end || last.outcome === end.status) return [];
    const says = `${last.message} was reported ${last.outcome} and is ${end.status}`;
    return violation('report_lost', says, last, end);
  });
}
