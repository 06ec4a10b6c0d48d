import { before, describe, it } from 'node:test';
import pg from 'pg';
import { Ids } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { assertConstraint } from '#test/support/database/bare-database.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { given } from '#test/support/service/given.ts';

const clock = new Clock();
const ids = new Ids(clock);
const at = clock.now();
const hash = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32)));

describe('the invariants of members and invitations (docs/architecture.md)', () => {
  const database = given(createTestDatabase);
  const pool = given(
    () => new pg.Pool({ connectionString: database.url, max: 2 }),
    (pool) => pool.end(),
  );
  let team: string;
  let otherTeam: string;
  let made = 0;

  before(async () => {
    team = await insertTeam();
    otherTeam = await insertTeam();
  });

  async function insertTeam(): Promise<string> {
    const id = ids.next('team');
    await pool.query(
      `INSERT INTO teams VALUES ($1, 'Example team', 'pro', 100, $2, substr(gen_random_uuid()::text, 1, 4))`,
      [id, at],
    );
    return id;
  }

  async function insertAccount(key?: string): Promise<string> {
    made += 1;
    const id = ids.next('acc');
    const email = key ?? `person${made}@example.com`;
    await pool.query(
      `INSERT INTO accounts (id, email, normalized_email, name, created_at) VALUES ($1, $2, $2, 'Ada Example', $3)`,
      [id, email, at],
    );
    return id;
  }

  async function insertMember(
    account: string,
    columns: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    return insertRow('members', {
      team_id: team,
      id: ids.next('usr'),
      account_id: account,
      role: 'member',
      created_at: at,
      ...columns,
    });
  }

  /** Inserts an invitation that satisfies every CHECK, except for the given columns. */
  async function insertInvitation(columns: Readonly<Record<string, unknown>> = {}): Promise<string> {
    made += 1;
    return insertRow('invitations', {
      team_id: team,
      id: ids.next('inv'),
      email: `guest${made}@example.com`,
      normalized_email: `guest${made}@example.com`,
      role: 'member',
      token_hash: hash(),
      created_at: at,
      expires_at: clock.in(1_000),
      ...columns,
    });
  }

  async function insertRow(table: string, row: Readonly<Record<string, unknown>>): Promise<string> {
    const names = Object.keys(row);
    const places = names.map((_, index) => `$${index + 1}`);
    const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`;
    await pool.query(sql, Object.values(row));
    return String(row.id);
  }

  it('the schema refuses a second account with the same address (§12.1/account)', async () => {
    await insertAccount('ada@example.com');
    await assertConstraint(insertAccount('ada@example.com'), /^23505 accounts_normalized_email_key/);
  });

  it('the schema allows an account one membership per team, and another after a removal', async () => {
    const account = await insertAccount();
    const first = await insertMember(account);
    await assertConstraint(insertMember(account), /^23505 members_one_per_account/);
    await insertMember(account, { team_id: otherTeam });
    await pool.query('UPDATE members SET removed_at = $2 WHERE id = $1', [first, at]);
    await insertMember(account);
    const revived = pool.query('UPDATE members SET removed_at = NULL WHERE id = $1', [first]);
    await assertConstraint(revived, /^23505 members_one_per_account/);
  });

  it('the schema refuses a member or an invitation with an unknown role', async () => {
    const account = await insertAccount();
    for (const role of ['superuser', '', 'Owner']) {
      await assertConstraint(insertMember(account, { role }), /^23514 members_role_check/);
      await assertConstraint(insertInvitation({ role }), /^23514 invitations_role_check/);
    }
  });

  it('the schema refuses a second open invitation of an address to a team, and allows ended ones', async () => {
    const email = { email: 'eve@example.com', normalized_email: 'eve@example.com' };
    const first = await insertInvitation(email);
    await assertConstraint(insertInvitation(email), /^23505 invitations_one_open/);
    await insertInvitation({ ...email, team_id: otherTeam });
    await insertInvitation({ ...email, revoked_at: at });
    await insertInvitation({ ...email, accepted_at: at });
    await pool.query('UPDATE invitations SET accepted_at = $2 WHERE id = $1', [first, at]);
    await insertInvitation(email);
    const reopened = pool.query('UPDATE invitations SET accepted_at = NULL WHERE id = $1', [first]);
    await assertConstraint(reopened, /^23505 invitations_one_open/);
  });

  it('the schema refuses an invitation that is both accepted and revoked (§3.5/lifetime)', async () => {
    const both = insertInvitation({ accepted_at: at, revoked_at: at });
    await assertConstraint(both, /^23514 invitations_check/);
  });

  it('the schema allows only owner links without an address', async () => {
    const withoutAddress = { email: null, normalized_email: null };
    await insertInvitation({ ...withoutAddress, role: 'owner' });
    for (const role of ['admin', 'member', 'viewer']) {
      await assertConstraint(insertInvitation({ ...withoutAddress, role }), /^23514 invitations_check/);
    }
    await assertConstraint(
      insertInvitation({ normalized_email: null, role: 'owner' }),
      /^23514 invitations_check/,
    );
  });

  it('the schema refuses a second invitation of one token, and a token that is not hashed', async () => {
    const token_hash = hash();
    await insertInvitation({ token_hash });
    await assertConstraint(insertInvitation({ token_hash }), /^23505 invitations_token_hash_key/);
    const short = insertInvitation({ token_hash: Buffer.from('token') });
    await assertConstraint(short, /^23514 invitations_token_hash_check/);
  });

  it('the schema refuses a test key of another team’s test team, and of a team that is none (§5.4/test-data-apart)', async () => {
    const testTeam = await insertTeam();
    await pool.query('INSERT INTO test_teams (test_team_id, team_id) VALUES ($1, $2)', [testTeam, team]);
    const key = (team_id: string, test_team_id: string) =>
      insertRow('api_keys', {
        team_id,
        id: ids.next('key'),
        name: 'Example',
        permissions: ['*'],
        hash: hash(),
        created_at: at,
        test_team_id,
      });
    await key(team, testTeam);
    for (const [owner, acting] of [
      [otherTeam, testTeam],
      [team, otherTeam],
      [team, team],
    ] as const)
      await assertConstraint(key(owner, acting), /^23503 api_keys_team_id_test_team_id_fkey/);
  });

  it('the schema refuses inviters and key creators of another team', async () => {
    const member = await insertMember(await insertAccount());
    await insertInvitation({ invited_by: member });
    const foreign = insertInvitation({ team_id: otherTeam, invited_by: member });
    await assertConstraint(foreign, /^23503 invitations_team_id_invited_by_fkey/);
    const key = (team_id: string) =>
      insertRow('api_keys', {
        team_id,
        id: ids.next('key'),
        name: 'Example',
        permissions: ['*'],
        hash: hash(),
        created_at: at,
        created_by: member,
      });
    await key(team);
    await assertConstraint(key(otherTeam), /^23503 api_keys_team_id_created_by_fkey/);
  });

  it('the schema refuses a member without an account or team, and deleting either while it has members', async () => {
    const account = await insertAccount();
    await assertConstraint(insertMember(ids.next('acc')), /^23503 members_account_id_fkey/);
    const nowhere = insertMember(account, { team_id: ids.next('team') });
    await assertConstraint(nowhere, /^23503 members_team_id_fkey/);
    await insertMember(account);
    const gone = pool.query('DELETE FROM accounts WHERE id = $1', [account]);
    await assertConstraint(gone, /^23503 members_account_id_fkey/);
  });
});
