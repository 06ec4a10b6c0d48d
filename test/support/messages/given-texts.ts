import { type MessageId, publicId } from '#server/platform/ids.ts';
import { heldBy } from '#test/support/database/held-transaction.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import type { SendingNumber } from './given-many-messages.ts';

export interface Text {
  readonly content: string;
  readonly contact: string;
  readonly direction?: 'inbound' | 'outbound';
}

/** $1 team, $2 number, $3 its phone number, $4 time of the first message in ms, then contents, contacts, directions. */
const insertTexts = `INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, sent_at, hand_out_count)
  SELECT $1, (lpad(to_hex($4::bigint + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, $2, direction,
    CASE direction WHEN 'inbound' THEN contact ELSE $3::text END, CASE direction WHEN 'inbound' THEN $3::text ELSE contact END, content,
    CASE direction WHEN 'inbound' THEN 'received' ELSE 'sent' END, to_timestamp(0),
    CASE direction WHEN 'outbound' THEN to_timestamp(1) END, CASE direction WHEN 'outbound' THEN 1 ELSE 0 END
  FROM unnest($5::text[], $6::text[], $7::text[]) WITH ORDINALITY AS t (content, contact, direction, n)`;

function valuesOf({ teamId, numberId, phoneNumber }: SendingNumber, texts: readonly Text[], atMs: number) {
  return [
    ...([teamId, numberId, phoneNumber, atMs] as const),
    texts.map(({ content }) => content),
    texts.map(({ contact }) => contact),
    texts.map(({ direction = 'outbound' }) => direction),
  ] as const;
}

/** Inserts sent and received messages, one a millisecond from `atMs` on. @returns their ids in the API */
export async function putTexts(
  { query }: Pick<TestService, 'query'>,
  number: SendingNumber,
  texts: readonly Text[],
  atMs: number,
): Promise<string[]> {
  const rows = await query<{ id: MessageId }>(`${insertTexts} RETURNING id`, [
    ...valuesOf(number, texts, atMs),
  ]);
  return rows.map(({ id }) => publicId('msg', id)).sort();
}

const heldTexts = heldBy<ReturnType<typeof valuesOf>>(insertTexts);

/** Inserts messages in a transaction that commits when the test releases it. */
export function holdTexts(
  service: Pick<TestService, 'databaseUrl'>,
  number: SendingNumber,
  texts: readonly Text[],
  atMs: number,
) {
  return heldTexts(service, ...valuesOf(number, texts, atMs));
}

interface StoredSegment {
  readonly first: string;
  readonly last: string;
  readonly signature: Buffer;
}

/** The segments of a team in the search index, the oldest first. */
export async function storedSegments(
  { query }: Pick<TestService, 'query'>,
  teamId: string,
): Promise<StoredSegment[]> {
  return query(
    `SELECT first_id AS "first", last_id AS "last", signature FROM message_segments WHERE team_id = $1 ORDER BY last_id`,
    [teamId],
  );
}
