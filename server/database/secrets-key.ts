import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import type { Config } from '#server/config.ts';
import { ConfigError } from '#server/platform/config-error.ts';
import { Secrets } from '#server/platform/crypto.ts';
import { statement } from './statement.ts';

const keepFingerprint = statement<{ secrets_key_fingerprint: Buffer }>(
  'instance.keep-fingerprint',
  `INSERT INTO instance (secrets_key_fingerprint) VALUES ($1)
   ON CONFLICT (only_row) DO UPDATE SET only_row = true RETURNING secrets_key_fingerprint`,
);

/** SECRETS_KEY, or else the key in DATA_DIR/secrets.key, which is made on first use (0600). */
export async function readSecrets(config: Config): Promise<Secrets> {
  return new Secrets(config.secretsKey ?? (await keyFromFile(config.dataDir)));
}

async function keyFromFile(dataDir: string): Promise<Buffer> {
  const file = join(dataDir, 'secrets.key');
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept === undefined) {
    await mkdir(dataDir, { recursive: true });
    const mine = `${file}.${randomBytes(6).toString('hex')}`;
    await writeFile(mine, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
    // A link fails where the name is taken, so of two processes that start at once both use the first one's key.
    await link(mine, file).catch(() => undefined);
    await rm(mine);
    await chmod(file, 0o600);
    return keyFromFile(dataDir);
  }
  const key = Buffer.from(kept.trim(), 'base64');
  if (key.length !== 32)
    throw new ConfigError([`${file} does not hold a key of 32 bytes in base64. Restore it from a backup.`]);
  return key;
}

/**
 * Refuses a process whose key is not the one that this database was begun with: it would make device tokens that
 * nobody recognises and could not read what is encrypted.
 */
export async function checkFingerprint(pool: Pool, secrets: Secrets, config: Config): Promise<void> {
  const fingerprint = secrets.fingerprint();
  const row = await keepFingerprint.row(pool, fingerprint);
  if (row?.secrets_key_fingerprint.equals(fingerprint)) return;
  const source = config.secretsKey ? 'SECRETS_KEY' : join(config.dataDir, 'secrets.key');
  throw new ConfigError([
    `The key in ${source} is not the one this database was set up with. ` +
      'Set SECRETS_KEY to the text of secrets.key in the DATA_DIR of the first process.',
  ]);
}
