import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { openRuntime } from '#server/app/open-runtime.ts';
import { applySchema } from '#server/database/apply-schema.ts';
import { Database } from '#server/database/database.ts';
import { withDatabaseErrors } from '#server/database/database-errors.ts';
import { type Engine, startEngine } from '#server/database/engine/engine.ts';
import { inspectDatabase } from '#server/database/inspect-database.ts';
import { readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { StartError } from '#server/platform/start-error.ts';
import { listenLocally } from '#test/support/proxies/listen-locally.ts';
import { until } from '#test/support/service/until.ts';
import { makeCertificate } from '#test/support/webhooks/certificate.ts';

/** A random loopback address, on which PostgreSQL's usual port is free. */
const host = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
const server = `${host}:5432`;
const password = 'sw0rdf1sh';

const rules = `
local   all           all                    trust
host    closed        all      127.0.0.0/8   reject
hostssl encrypted     all      127.0.0.0/8   scram-sha-256
host    guests,of_others,tables_of_others,missing,readonly all 127.0.0.0/8 scram-sha-256
`;

describe('errors of a start with a wrong DATABASE_URL', () => {
  let dataDir: string;
  let engine: Engine;
  const listeners: Server[] = [];

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'ownline-explain-'));
    engine = await startEngine({
      dataDir,
      logger: pino({ level: 'silent' }),
      parameters: { fsync: 'off', listen_addresses: host },
    });
    await asSuperuser(
      'SELECT pg_reload_conf()',
      `CREATE ROLE guest LOGIN PASSWORD '${password}'`,
      'CREATE DATABASE closed OWNER guest',
      'CREATE DATABASE encrypted OWNER guest',
      'CREATE DATABASE of_others',
      'CREATE DATABASE tables_of_others',
      'CREATE DATABASE readonly OWNER guest',
      'ALTER DATABASE readonly SET default_transaction_read_only = on',
      'CREATE DATABASE guests OWNER guest',
    );
  });
  after(async () => {
    for (const listener of listeners) listener.close();
    await engine.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const asSuperuser = (...statements: string[]) => asSuperuserIn('postgres', ...statements);

  async function asSuperuserIn(database: string, ...statements: string[]): Promise<void> {
    await writeFile(join(dataDir, 'pg', 'pg_hba.conf'), rules);
    const client = new pg.Client({ host: join(dataDir, 'socket'), user: 'postgres', database });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  const url = (database: string, { role = 'guest', secret = password, at = server, query = '' } = {}) =>
    `postgresql://${role}${secret === '' ? '' : `:${secret}`}@${at}/${database}${query}`;

  async function explained(databaseUrl: string): Promise<string> {
    const problem = await withDatabaseErrors(databaseUrl, () => applySchema(databaseUrl)).then(
      () => assert.fail(`${databaseUrl} works`),
      (error: unknown) => error,
    );
    assert.ok(problem instanceof StartError, String(problem));
    assert.ok(!problem.message.includes(password), 'the password is never shown');
    return problem.message;
  }

  /** Starts a TCP server. @returns its host and port */
  async function listen(onConnection: (socket: Socket) => void): Promise<string> {
    const listener = createServer(onConnection);
    listeners.push(listener);
    return `${host}:${await listenLocally(listener, host)}`;
  }

  /** Starts a pooler that refuses each connection. @returns the URL of a database behind it */
  async function poolerThatAnswers(code: string, message: string): Promise<string> {
    const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
    const answer = Buffer.concat([Buffer.from('E\0\0\0\0'), fields]);
    answer.writeUInt32BE(answer.length - 1, 1);
    return url('guests', { at: await listen((socket) => socket.once('data', () => socket.end(answer))) });
  }

  it('a correct DATABASE_URL gets the schema without an error', async () => {
    const right = url('guests');
    assert.equal(await withDatabaseErrors(right, () => applySchema(right)), true);
  });

  const errors: Readonly<Record<string, readonly [databaseUrl: () => string | Promise<string>, RegExp]>> = {
    'says that no PostgreSQL listens at a port': [
      () => url('guests', { at: `${host}:1` }),
      /^DATABASE_URL names \S+:1, where no PostgreSQL listens\. Start it, or correct the host and the port\.$/,
    ],
    'says that no PostgreSQL listens at a socket': [
      () => 'postgresql://guest@/guests?host=/nowhere',
      /names \/nowhere\/\.s\.PGSQL\.5432, where no PostgreSQL listens/,
    ],
    'says that the host name has no address': [
      () => url('guests', { at: 'nowhere.invalid' }),
      /names nowhere\.invalid:5432, and that name has no address/,
    ],
    'says that the server ended the connection and may be no PostgreSQL': [
      async () =>
        url('guests', { at: await listen((socket) => socket.once('data', () => socket.destroy())) }),
      /which ended the connection: it may be no PostgreSQL/,
    ],
    'says that the password is wrong': [
      () => url('guests', { secret: 'wrong' }),
      /^PostgreSQL at \S+ refuses the password of the role guest\. Correct it in DATABASE_URL\.$/,
    ],
    'says that the password is missing': [
      () => url('guests', { secret: '' }),
      /asks for a password, and DATABASE_URL has none/,
    ],
    'names a missing role over a socket, and the statement that makes it': [
      () => `postgresql://nobody_knows@/guests?host=${encodeURIComponent(join(dataDir, 'socket'))}`,
      /has no role nobody_knows\. .*CREATE ROLE nobody_knows LOGIN PASSWORD/,
    ],
    'names a missing database, and the statement that makes it': [
      () => url('missing'),
      /^PostgreSQL at \S+ has no database missing\. Correct DATABASE_URL, or make it: CREATE DATABASE missing OWNER guest;$/,
    ],
    'says that the database is read-only, as on a standby': [
      () => url('readonly'),
      /leads to a read-only PostgreSQL at .* the primary/,
    ],
    'names pg_hba.conf, which refuses the role': [
      () => url('closed'),
      /does not let the role guest into the database closed .*pg_hba\.conf/,
    ],
    'names an sslmode that the server does not offer': [
      () => url('guests', { query: '?sslmode=verify-full' }),
      /DATABASE_URL asks for TLS, which PostgreSQL at .* does not offer/,
    ],
    'names an sslmode that the server requires': [
      () => url('encrypted'),
      /takes encrypted connections only, add sslmode=verify-full to DATABASE_URL/,
    ],
    'says that a pooler refuses the settings of a connection': [
      () => poolerThatAnswers('08P01', 'unsupported startup parameter: statement_timeout'),
      /^A pooler such as PgBouncer answers at \S+ .*connect to PostgreSQL or to haproxy\.$/,
    ],
    'says that a pooler mixes prepared statements up': [
      () => poolerThatAnswers('42P05', 'prepared statement "clock.read" already exists'),
      /^A pooler such as PgBouncer answers at \S+ .*connect to PostgreSQL or to haproxy\.$/,
    ],
    'names a file of a certificate that can’t be read': [
      () => url('guests', { query: '?sslrootcert=/nowhere.pem' }),
      /The file \/nowhere\.pem, which DATABASE_URL names, can't be read \(ENOENT\)/,
    ],
  };
  for (const [what, [databaseUrl, error]] of Object.entries(errors)) {
    it(`the error ${what}`, async () => assert.match(await explained(await databaseUrl()), error));
  }

  it('the error names a role that may not make tables, and the statement that allows it', async () => {
    const of = url('of_others');
    const problem = await explained(of);
    assert.match(problem, /The role guest may not change the database of_others /);
    const [statement = ''] = /GRANT .*?;/.exec(problem) ?? [];
    await asSuperuserIn('of_others', statement);
    assert.equal(await withDatabaseErrors(of, () => applySchema(of)), true, statement);
  });

  it('the error names a role that may not use the tables of another role', async () => {
    await asSuperuserIn(
      'tables_of_others',
      'GRANT CREATE ON SCHEMA public TO guest',
      'CREATE TABLE schema_versions (version int, fingerprint bytea)',
    );
    assert.match(
      await explained(url('tables_of_others')),
      /The role guest may not change the database tables_of_others .* Use the role in DATABASE_URL that made the tables/,
    );
  });

  it('the error says that the certificate is not trusted, and adds sslrootcert', async () => {
    const { key, cert } = makeCertificate([host]);
    const files = { cert: join(dataDir, 'pg', 'server.crt'), key: join(dataDir, 'pg', 'server.key') };
    await writeFile(files.cert, cert, { mode: 0o644 });
    await writeFile(files.key, key, { mode: 0o600 });
    if (process.getuid?.() === 0) {
      const { uid, gid } = await stat(join(dataDir, 'pg'));
      for (const file of Object.values(files)) await chown(file, uid, gid);
    }
    await asSuperuser("ALTER SYSTEM SET ssl = 'on'", 'SELECT pg_reload_conf()');
    const query = '?sslmode=verify-full';
    assert.match(
      await until('TLS is offered', async () => {
        const text = await explained(url('guests', { query }));
        return !text.includes('does not offer') && text;
      }),
      /The certificate of PostgreSQL at .* is not trusted \(\w+\)\. Add sslrootcert=/,
    );
  });

  it('the error names a PostgreSQL older than 15', async () => {
    // This proxy replaces the version, six digits, in the server's answers.
    const at = await listen((socket) => {
      const upstream = connect(5432, host);
      socket.on('error', () => upstream.destroy()).pipe(upstream);
      upstream.on('error', () => socket.destroy());
      upstream.on('end', () => socket.end());
      upstream.on('data', (data) => {
        const text = data.toString('latin1').replace(/18(\d{4})/, '14$1');
        socket.write(Buffer.from(text, 'latin1'));
      });
    });
    assert.match(
      await explained(url('guests', { at })),
      /DATABASE_URL leads to PostgreSQL 14, and Ownline needs 15 or newer/,
    );
  });

  it('the error says that the schema differs from this release’s', async () => {
    const client = new pg.Client({ connectionString: url('guests') });
    await client.connect();
    await client.query("UPDATE schema_versions SET fingerprint = sha256('another')");
    await client.end();
    assert.match(
      await explained(url('guests')),
      /The schema of this database differs from that of this release/,
    );
  });

  it('the error of a start and of ownline doctor says that the connection lacks Ownline’s settings', async (t) => {
    const lacking = { name: 'StartError', message: /^A pooler dropped Ownline's settings, or DATABASE_URL/ };
    const logger = createLogger('silent');
    for (const query of ['?options=-c%20jit%3Doff', '?statement_timeout=1000']) {
      const databaseUrl = url('guests', { query });
      const config = readConfig({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir });
      await assert.rejects(openRuntime(config, databaseUrl, logger), lacking, query);
      const database = new Database({ databaseUrl, logger });
      t.after(() => database.close());
      await assert.rejects(inspectDatabase(database), lacking, query);
    }
  });

  it('the error says that PostgreSQL has no connection left', async () => {
    await asSuperuser('ALTER DATABASE guests CONNECTION LIMIT 0');
    assert.match(
      await explained(url('guests')),
      /has no connection left\. Raise max_connections of PostgreSQL, or the CONNECTION LIMIT .*: each process of Ownline takes up to 31\./,
    );
  });
});
