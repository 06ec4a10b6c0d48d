import { type Row, rowsOf } from './history.ts';
import { conflicts, group, keyOf, type Ledger } from './ledger.ts';
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
  return rowsOf(rows, 'send_refused').flatMap((row) =>
    violation('refused', `a sound request was answered ${row.answer}`, row),
  );
}

/** An idempotency key, or a phone's id of a text, identifies one message for ever. A message has one text. */
function keysAndTexts({ accepted, inboundTexts }: Ledger): Violation[] {
  return [
    ...conflicts(
      accepted,
      ({ team, key }) => keyOf(team, key),
      ({ message }) => message,
    ).flatMap(([first, other]) =>
      violation('key_with_two_messages', `the key ${other.key} made two messages`, first, other),
    ),
    ...conflicts(inboundTexts, textOf, ({ message }) => message).flatMap(([first, other]) =>
      violation('text_with_two_messages', `the text ${other.text_id} is two messages`, first, other),
    ),
    ...conflicts(inboundTexts, ({ message }) => message, textOf).flatMap(([first, other]) =>
      violation('texts_in_one_message', `${other.message} stands for two texts`, first, other),
    ),
  ];
}

const textOf = ({ number, text_id }: Row<'inbound_accepted'>) => keyOf(number, text_id);

const ends = ['sent', 'delivered', 'failed', 'received'];

function lostAndChanged({ messages, listed }: Ledger): Violation[] {
  return [...messages.values()].flatMap((message) => {
    const [row, again] = listed.get(message.id) ?? [];
    if (!row) return violation('message_lost', `${message.id} was accepted and is gone`, message.cause);
    const fields = ['team', 'direction', 'from', 'to', 'content'] as const;
    const field = fields.find((name) => row[name] !== message[name]);
    const { id, cause } = message;
    return [
      ...(again ? violation('message_listed_twice', `${id} is listed twice`, row, again) : []),
      ...(field ? violation('message_changed', `${field} of ${id} is not what it was`, cause, row) : []),
      ...(ends.includes(row.status)
        ? []
        : violation('message_unfinished', `${id} is still ${row.status}`, cause, row)),
    ];
  });
}

function withoutCause({ listed, messages }: Ledger): Violation[] {
  return [...listed.values()].flatMap(([row]) =>
    row && !messages.has(row.message)
      ? violation('message_without_cause', `no client was answered with ${row.message}`, row)
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
      : violation('counted_wrong', `${row.number} counts ${row.messages_today} messages of ${known}`, row);
  });
}
