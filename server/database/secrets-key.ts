import { randomBytes } from 'node:crypto';
import { chmod, link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#server/platform/config.ts';
import { ConfigError } from '#server/platform/config-error.ts';
import { parseSecretsKey, Secrets } from '#server/platform/crypto.ts';
import { createDataDir } from './data-dir.ts';
import { errorCodeOf } from './database.ts';
import { type Queryable, statement } from './statement.ts';

const findFingerprint = statement<{ secrets_key_fingerprint: Buffer }>(
  'instance.find-fingerprint',
  'SELECT secrets_key_fingerprint FROM instance',
);
const keepFingerprint = statement<{ secrets_key_fingerprint: Buffer }>(
  'instance.keep-fingerprint',
  `INSERT INTO instance (secrets_key_fingerprint) VALUES ($1)
   ON CONFLICT (only_row) DO UPDATE SET only_row = true RETURNING secrets_key_fingerprint`,
);

/**
 * Reads SECRETS_KEY, or else the key in DATA_DIR/secrets.key, which is created on first use (0600). Refuses a key other
 * than the database's first one: device tokens made with it would be unknown, and encrypted values unreadable. For the
 * same reason no key is created for a database that already had one.
 * @throws ConfigError that says what to do
 */
export async function loadSecrets(db: Queryable, config: Config): Promise<Secrets> {
  const file = join(config.dataDir, 'secrets.key');
  const key = config.secretsKey ?? (await readKey(file)) ?? (await makeKey(db, config.dataDir, file));
  const secrets = new Secrets(key);
  const fingerprint = secrets.fingerprint();
  const kept = await keepFingerprint.row(db, fingerprint);
  if (kept?.secrets_key_fingerprint.equals(fingerprint)) return secrets;
  throw new ConfigError([
    `The key in ${config.secretsKey ? 'SECRETS_KEY' : file} is not the one this database was set up with. ${theRightKey} ${lostKey}`,
  ]);
}

const theRightKey = 'Set SECRETS_KEY to the text of secrets.key in the DATA_DIR of the first process.';

const lostKey = 'Where the key is lost: docs/operations.md, "A lost secrets key".';

/** @returns undefined where there is no such file */
async function readKey(file: string): Promise<Buffer | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw unreadable(file, reasonOf(error));
  }
  const key = parseSecretsKey(text.trim());
  if (key) return key;
  throw new ConfigError([
    `${file} does not hold a key of 32 bytes in base64. Restore it from a backup, or set SECRETS_KEY to the key that ` +
      `this database was set up with. ${lostKey}`,
  ]);
}

async function makeKey(db: Queryable, dataDir: string, file: string): Promise<Buffer> {
  if (await findFingerprint.row(db)) {
    // Another process may have started since the first look; it wrote the file before the database had its fingerprint.
    const others = await readKey(file);
    if (others) return others;
    throw new ConfigError([
      `${file} is missing, and this database was set up with a key. Restore it from a backup. In a further process: ` +
        `${theRightKey} ${lostKey}`,
    ]);
  }
  try {
    await writeOnce(dataDir, file, `${randomBytes(32).toString('base64')}\n`);
  } catch (error) {
    throw new ConfigError([
      `No key could be written to ${file} (${reasonOf(error)}). Choose a DATA_DIR that the user who runs Ownline may ` +
        'write to, or set SECRETS_KEY to what `openssl rand -base64 32` prints.',
    ]);
  }
  const key = await readKey(file);
  if (key) return key;
  throw unreadable(file, 'ENOENT');
}

/** A link fails if the name exists, so of two processes that start at once both use the first one's key. */
async function writeOnce(dataDir: string, file: string, text: string): Promise<void> {
  await createDataDir(dataDir);
  const mine = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    // On the disk before the database has the key's fingerprint: a key that is lost in a power cut cannot be recovered.
    await writeFile(mine, text, { mode: 0o600, flush: true });
    await chmod(mine, 0o600);
    await link(mine, file);
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(mine, { force: true });
  }
}

function unreadable(file: string, reason: string): ConfigError {
  return new ConfigError([
    `${file} is there and can't be read (${reason}). Let the user who runs Ownline read it, or set SECRETS_KEY ` +
      'to its text.',
  ]);
}

function reasonOf(error: unknown): string {
  return errorCodeOf(error) ?? (error instanceof Error ? error.message : String(error));
}
