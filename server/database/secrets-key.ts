import { randomBytes } from 'node:crypto';
import { chmod, chown, link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#server/platform/config.ts';
import { parseSecretsKey, Secrets } from '#server/platform/crypto.ts';
import { errorCodeOf, messageOf } from '#server/platform/error-code.ts';
import { ConfigError } from '#server/platform/start-error.ts';
import { createDataDir } from './data-dir.ts';
import { type Queryable, query } from './query.ts';

const findFingerprint = query<object, { secrets_key_fingerprint: Buffer }>(
  'instance.find-fingerprint',
  'SELECT secrets_key_fingerprint FROM instance',
).row;
const keepFingerprint = query<{ fingerprint: Buffer }, { secrets_key_fingerprint: Buffer }>(
  'instance.keep-fingerprint',
  `INSERT INTO instance (secrets_key_fingerprint) VALUES (:fingerprint)
   ON CONFLICT (only_row) DO UPDATE SET only_row = true RETURNING secrets_key_fingerprint`,
).one;

/**
 * Reads SECRETS_KEY or the key in DATA_DIR/secrets.key, which is created on first use (0600). A key other than the
 * database's first one is refused, because device tokens and encrypted values depend on it. So no key is created for a
 * database that already had one.
 * @throws ConfigError that says what to do
 */
export async function loadSecretsKey(db: Queryable, config: Config): Promise<Buffer> {
  const file = secretsKeyFile(config);
  const key = config.secretsKey ?? (await readKey(file)) ?? (await makeKey(db, config.dataDir, file));
  const fingerprint = new Secrets(key).fingerprint();
  const kept = await keepFingerprint(db, { fingerprint });
  if (kept.secrets_key_fingerprint.equals(fingerprint)) return key;
  throw new ConfigError([
    `The key in ${config.secretsKey ? 'SECRETS_KEY' : file} is not the one this database was set up with. ${theRightKey} ${lostKey}`,
  ]);
}

/** State of the secrets key, read without creating one. */
export type SecretsKeyState =
  | { readonly kind: 'right'; readonly secrets: Secrets }
  /** A key was found, but the database has no fingerprint to compare it with, or can't be reached. */
  | { readonly kind: 'unproven'; readonly secrets: Secrets }
  | { readonly kind: 'missing' }
  | { readonly kind: 'wrong' };

/**
 * Reads the key and compares it with the database's fingerprint, for checks: it writes nothing.
 * @param db undefined if the database can't be reached
 * @throws ConfigError if the file can't be read or has no key
 */
export async function inspectSecretsKey(db: Queryable | undefined, config: Config): Promise<SecretsKeyState> {
  const key = await findSecretsKey(config);
  if (key === undefined) return { kind: 'missing' };
  const secrets = new Secrets(key);
  const kept = db && (await findFingerprint(db).catch(() => undefined));
  if (!kept) return { kind: 'unproven', secrets };
  return kept.secrets_key_fingerprint.equals(secrets.fingerprint())
    ? { kind: 'right', secrets }
    : { kind: 'wrong' };
}

type SecretsKeyConfig = Pick<Config, 'secretsKey' | 'dataDir'>;

function secretsKeyFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'secrets.key');
}

async function findSecretsKey(config: SecretsKeyConfig): Promise<Buffer | undefined> {
  return config.secretsKey ?? (await readKey(secretsKeyFile(config)));
}

/**
 * Refuses a restore, before anything is written, if this machine has another key than the backup.
 * @throws ConfigError that says what to do
 */
export async function refuseOtherKey(config: SecretsKeyConfig, key: Buffer): Promise<void> {
  const found = await findSecretsKey(config);
  if (found === undefined || found.equals(key)) return;
  throw new ConfigError([
    config.secretsKey
      ? 'SECRETS_KEY is another key than the one in the backup. Leave it out: the restore then writes the key to ' +
        `${secretsKeyFile(config)}. Or set it to the key that the backup was made with.`
      : `${secretsKeyFile(config)} holds another key than the one in the backup, and no restore replaces a key. Move that file ` +
        'away, or name another DATA_DIR.',
  ]);
}

/**
 * Writes a backup's key to DATA_DIR/secrets.key (0600, with DATA_DIR's owner), unless SECRETS_KEY or that file already
 * has it.
 */
export async function keepSecretsKey(config: SecretsKeyConfig, key: Buffer): Promise<void> {
  await refuseOtherKey(config, key);
  if (config.secretsKey) return;
  const file = secretsKeyFile(config);
  try {
    await writeOnce(config.dataDir, file, `${key.toString('base64')}\n`);
    const owner = await stat(config.dataDir);
    if (process.getuid?.() === 0) await chown(file, owner.uid, owner.gid);
  } catch (error) {
    throw new ConfigError([
      `The key could not be written to ${file} (${errorCodeOf(error) ?? messageOf(error)}). Choose a DATA_DIR that this user may write to, or set ` +
        'SECRETS_KEY to the key that the backup was made with.',
    ]);
  }
  await refuseOtherKey(config, key);
}

const theRightKey = 'Set SECRETS_KEY to the text of secrets.key in the DATA_DIR of the first process.';

const lostKey = 'Where the key is lost: docs/operations.md, "A lost secrets key".';

async function readKey(file: string): Promise<Buffer | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw unreadable(file, errorCodeOf(error) ?? messageOf(error));
  }
  const key = parseSecretsKey(text.trim());
  if (key) return key;
  throw new ConfigError([
    `${file} does not hold a key of 32 bytes in base64. Restore it from a backup, or set SECRETS_KEY to the key that ` +
      `this database was set up with. ${lostKey}`,
  ]);
}

async function makeKey(db: Queryable, dataDir: string, file: string): Promise<Buffer> {
  if (await findFingerprint(db)) {
    // Another starting process may have written the file: each writes the key's file before the database's fingerprint.
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
      `No key could be written to ${file} (${errorCodeOf(error) ?? messageOf(error)}). Choose a DATA_DIR that the user who runs Ownline may ` +
        'write to, or set SECRETS_KEY to what `openssl rand -base64 32` prints.',
    ]);
  }
  const key = await readKey(file);
  if (key) return key;
  throw unreadable(file, 'ENOENT');
}

/**
 * Writes the key file unless it exists. A hard link never replaces a file, so two processes that start at once both use
 * the first one's key.
 */
async function writeOnce(dataDir: string, file: string, text: string): Promise<void> {
  await createDataDir(dataDir);
  const mine = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    // Flushed before the database gets the key's fingerprint: a key lost in a power cut can't be recovered.
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
    `${file} exists and can't be read (${reason}). Let the user who runs Ownline read it, or set SECRETS_KEY ` +
      'to its text.',
  ]);
}
