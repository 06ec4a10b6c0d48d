import { rowsOf } from './history.ts';
import { group, keyOf, type Ledger } from './ledger.ts';
import { type Violation, violation } from './violation.ts';

/** Each accepted message exists once, with its fields and a final status (docs/specification.md 3.1, 4.3, 11.5). */
export function messageViolations(ledger: Ledger): Violation[] {
  return [
    ...refusals(ledger),
    ...keysAndTexts(ledger),
    ...lostAndChanged(ledger),
    ...withoutCause(ledger),
    ...counts(ledger),
  ];
}

function refusals({ rows }: Ledger): Violation[] {
  return rowsOf(rows, 'send_refused').map((row) =>
    violation('refused', `a sound request was answered ${row.answer}`, row),
  );
}

/** An idempotency key, or a phone's id of a text, identifies one message for ever. A message has one text. */
function keysAndTexts({ accepted, inboundTexts }: Ledger): Violation[] {
  const keys = [...group(accepted, (row) => keyOf(row.team, row.key)).entries()].flatMap(([key, rows]) => {
    const [first, other] = new Map(rows.map((row) => [row.message, row])).values();
    return other
      ? [violation('key_with_two_messages', `the key ${key} made two messages`, first, other)]
      : [];
  });
  const texts = [...group(inboundTexts, (row) => keyOf(row.number, row.text_id)).values()].flatMap((rows) => {
    const [first, other] = new Map(rows.map((row) => [row.message, row])).values();
    return other
      ? [violation('text_with_two_messages', `the text ${other.text_id} is two messages`, first, other)]
      : [];
  });
  const shared = [...group(inboundTexts, (row) => row.message).values()].flatMap((rows) => {
    const [first, other] = new Map(rows.map((row) => [keyOf(row.number, row.text_id), row])).values();
    return other
      ? [violation('texts_in_one_message', `${other.message} stands for two texts`, first, other)]
      : [];
  });
  return [...keys, ...texts, ...shared];
}

const ends = ['sent', 'delivered', 'failed', 'received'];

function lostAndChanged({ messages, listed }: Ledger): Violation[] {
  return [...messages.values()].flatMap((message) => {
    const [row, again] = listed.get(message.id) ?? [];
    if (!row) return [violation('message_lost', `${message.id} was accepted and is gone`, message.cause)];
    const found: Violation[] = [];
    if (again) found.push(violation('message_listed_twice', `${message.id} is listed twice`, row, again));
    const fields = ['team', 'direction', 'from', 'to', 'content'] as const;
    const field = fields.find((name) => row[name] !== message[name]);
    if (field)
      found.push(
        violation('message_changed', `${field} of ${message.id} is not what it was`, message.cause, row),
      );
    if (!ends.includes(row.status))
      found.push(violation('message_unfinished', `${message.id} is still ${row.status}`, message.cause, row));
    return found;
  });
}

function withoutCause({ listed, messages }: Ledger): Violation[] {
  return [...listed.values()].flatMap(([row]) =>
    row && !messages.has(row.message)
      ? [violation('message_without_cause', `no client was answered with ${row.message}`, row)]
      : [],
  );
}

/** A number's count is that of its accepted and received messages; repeated requests count once. */
function counts({ rows, messages }: Ledger): Violation[] {
  const byNumber = group([...messages.values()], (message) => message.number);
  return rowsOf(rows, 'number_counted').flatMap((row) => {
    const known = byNumber.get(row.number)?.length ?? 0;
    return row.messages_today === known
      ? []
      : [violation('counted_wrong', `${row.number} counts ${row.messages_today} messages of ${known}`, row)];
  });
}
