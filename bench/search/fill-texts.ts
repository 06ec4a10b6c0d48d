import type pg from 'pg';

/** The first team has a tenth of all messages, and the others have the rest. */
export const teamsOfMessages = 91;

const batch = 250_000;
const stepMs = 800;
const vocabulary = 20_000;
const phrases = 20_000;

/** Writes messages of nine words and more, of 200,000 contacts of each team. */
export async function fillTexts(database: pg.Pool, messages: number, nowMs: number): Promise<void> {
  await database.query(
    `SET synchronous_commit = off;
     CREATE TEMP TABLE owners AS SELECT team_id, id AS number_id, phone_number, row_number() OVER (ORDER BY team_id) - 1 AS nth FROM numbers;
     CREATE TEMP TABLE phrases (n bigint PRIMARY KEY, text text)`,
  );
  await database.query(
    'INSERT INTO phrases SELECT n - 1, text FROM unnest($1::text[]) WITH ORDINALITY AS p (text, n)',
    [makePhrases()],
  );
  await database.query('ANALYZE owners, phrases');
  for (let from = 0; from < messages; from += batch) {
    await database.query(
      `INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, sent_at, hand_out_count)
       SELECT o.team_id, (lpad(to_hex($3::bigint + i * ${stepMs}), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid, o.number_id,
         'outbound', o.phone_number, '+1212' || lpad((i * 7919 % 200000)::text, 7, '0'),
         a.text || CASE i % 4 WHEN 0 THEN ' delivery ' WHEN 2 THEN ' collection ' ELSE ' ' END || b.text || ' ' || c.text ||
           CASE WHEN i IN (10, 30) THEN ' zanzibar' ELSE '' END, 'sent', at.at, at.at, 1
       FROM generate_series($1::bigint, $2::bigint - 1) AS i
       JOIN owners o ON o.nth = CASE WHEN i % 10 = 0 THEN 0 ELSE 1 + (i / 10 * 9 + i % 10) % ${teamsOfMessages - 1} END
       JOIN phrases a ON a.n = i * 48271 % 65537 % ${phrases} JOIN phrases b ON b.n = i * 69621 % 65539 % ${phrases}
       JOIN phrases c ON c.n = i * 40692 % 65543 % ${phrases}
       CROSS JOIN LATERAL (SELECT to_timestamp(($3::bigint + i * ${stepMs}) / 1000.0) AS at) at`,
      [from, Math.min(from + batch, messages), nowMs - messages * stepMs],
    );
  }
}

/** Phrases of three made-up words; few words are frequent, and most are rare. */
function makePhrases(): string[] {
  let state = 61;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  const syllables = ['ta', 'be', 'ri', 'no', 'su', 'len', 'dor', 'mi', 'cha', 'gro', 'est', 'vel'];
  const word = () =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, () => syllables[Math.floor(random() * 12)]).join('');
  const words = Array.from({ length: vocabulary }, word);
  const drawn = () => words[Math.floor(vocabulary ** random()) - 1];
  return Array.from({ length: phrases }, () => [drawn(), drawn(), drawn()].join(' '));
}
