import { randomBytes } from 'node:crypto';
import { before, describe, it } from 'node:test';
import pg from 'pg';
import { type IdPrefix, Ids } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { assertConstraint } from '#test/support/database/bare-database.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { given } from '#test/support/service/given.ts';

const clock = new Clock();
const ids = new Ids(clock);
const at = clock.now();
const hash = () => randomBytes(32);

describe('the invariants of accounts and their sign-ins (docs/architecture.md)', () => {
  const database = given(createTestDatabase);
  const pool = given(
    () => new pg.Pool({ connectionString: database.url, max: 2 }),
    (pool) => pool.end(),
  );
  let account: string;

  before(async () => {
    account = await insert('acc', 'accounts', accountRow('ada@example.com'));
  });

  async function insert(
    prefix: IdPrefix,
    table: string,
    row: Readonly<Record<string, unknown>>,
  ): Promise<string> {
    const id = ids.next(prefix);
    await insertRow(table, { id, ...row });
    return id;
  }

  async function insertRow(table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
    const places = Object.keys(row).map((_, index) => `$${index + 1}`);
    await pool.query(
      `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${places.join(', ')})`,
      Object.values(row),
    );
  }

  const accountRow = (key: string) => ({
    email: key,
    normalized_email: key,
    name: 'Ada Example',
    created_at: at,
  });
  const session = (columns: Readonly<Record<string, unknown>> = {}) => ({
    account_id: account,
    token_hash: hash(),
    method: 'link',
    ip: '192.0.2.1',
    user_agent: '',
    created_at: at,
    last_used_at: at,
    expires_at: at,
    ...columns,
  });
  const link = (columns: Readonly<Record<string, unknown>> = {}) => ({
    account_id: account,
    token_hash: hash(),
    created_at: at,
    expires_at: at,
    ...columns,
  });
  const passkey = (columns: Readonly<Record<string, unknown>> = {}) => ({
    account_id: account,
    credential_id: hash(),
    public_key: hash(),
    counter: 0,
    transports: [],
    name: 'Laptop',
    created_at: at,
    ...columns,
  });
  const unknownAccount = () => ids.next('acc');

  it('the schema refuses a second account with the same address', async () => {
    await assertConstraint(
      insert('acc', 'accounts', accountRow('ada@example.com')),
      /^23505 accounts_normalized_email_key/,
    );
  });

  it('the schema refuses a name that has not 1 to 100 characters', async () => {
    for (const name of ['', 'x'.repeat(101)]) {
      const row = { ...accountRow('grace@example.com'), name };
      await assertConstraint(insert('acc', 'accounts', row), /^23514 accounts_name_check/);
      await assertConstraint(insert('pky', 'passkeys', passkey({ name })), /^23514 passkeys_name_check/);
    }
  });

  it('the schema refuses a second session or magic link of one token, and a token that is not hashed', async () => {
    const token_hash = hash();
    await insert('acs', 'account_sessions', session({ token_hash }));
    await assertConstraint(
      insert('acs', 'account_sessions', session({ token_hash })),
      /^23505 account_sessions_token_hash_key/,
    );
    await insert('alk', 'magic_links', link({ token_hash }));
    await assertConstraint(
      insert('alk', 'magic_links', link({ token_hash })),
      /^23505 magic_links_token_hash_key/,
    );
    // As many bytes as a token has: a column for a hash must refuse the token itself.
    const token = randomBytes(43);
    await assertConstraint(insert('acs', 'account_sessions', session({ token_hash: token })), /^23514/);
    await assertConstraint(insert('alk', 'magic_links', link({ token_hash: token })), /^23514/);
    const challenge = { challenge_hash: token, expires_at: at };
    await assertConstraint(insertRow('passkey_challenges', challenge), /^23514/);
  });

  it('the schema refuses a second equal challenge or passkey, and a negative signature counter', async () => {
    const challenge = { challenge_hash: hash(), expires_at: at };
    await insertRow('passkey_challenges', challenge);
    await assertConstraint(insertRow('passkey_challenges', challenge), /^23505 passkey_challenges_pkey/);
    const credential_id = hash();
    await insert('pky', 'passkeys', passkey({ credential_id }));
    const other = await insert('acc', 'accounts', accountRow('other@example.com'));
    await assertConstraint(
      insert('pky', 'passkeys', passkey({ credential_id, account_id: other })),
      /^23505 passkeys_credential_id_key/,
    );
    await assertConstraint(
      insert('pky', 'passkeys', passkey({ counter: -1 })),
      /^23514 passkeys_counter_check/,
    );
  });

  it('the schema refuses a session, link, passkey or challenge of an account that does not exist', async () => {
    const account_id = unknownAccount();
    const rows: [string, Record<string, unknown>][] = [
      ['account_sessions', { id: ids.next('acs'), ...session({ account_id }) }],
      ['magic_links', { id: ids.next('alk'), ...link({ account_id }) }],
      ['passkeys', { id: ids.next('pky'), ...passkey({ account_id }) }],
      ['passkey_challenges', { challenge_hash: hash(), account_id, expires_at: at }],
    ];
    for (const [table, row] of rows) {
      await assertConstraint(insertRow(table, row), new RegExp(`^23503 ${table}_account_id_fkey`));
    }
  });

  it('the schema refuses a session with an unknown sign-in method', async () => {
    await assertConstraint(
      insert('acs', 'account_sessions', session({ method: 'key' })),
      /^23514 account_sessions_method_check/,
    );
  });

  it('throttle counters have one row per window, count from 1, and have a hash as subject', async () => {
    const row = { subject: hash(), window_start: at, hits: 1 };
    await insertRow('throttle_counters', row);
    await assertConstraint(insertRow('throttle_counters', row), /^23505 throttle_counters_pkey/);
    const below = pool.query('UPDATE throttle_counters SET hits = hits - 1');
    await assertConstraint(below, /^23514 throttle_counters_hits_check/);
    const address = { ...row, subject: Buffer.from('ada@example.com') };
    await assertConstraint(insertRow('throttle_counters', address), /^23514/);
  });

  it('the schema refuses to delete an account that has a session', async () => {
    await insert('acs', 'account_sessions', session());
    await assertConstraint(pool.query('DELETE FROM accounts WHERE id = $1', [account]), /^23503/);
  });
});
