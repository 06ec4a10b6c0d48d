import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Database } from '#server/database/database.ts';
import { loadSecretsKey } from '#server/database/secrets-key.ts';
import { readConfig } from '#server/platform/config.ts';
import { Secrets } from '#server/platform/crypto.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { ConfigError } from '#server/platform/start-error.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { given } from '#test/support/service/given.ts';

describe('the secrets key (specification section 10.3, docs/configuration.md)', () => {
  let parent: string;
  let dataDir: string;
  let file: string;
  const database = given(createTestDatabase);
  const service = given(
    () => new Database({ databaseUrl: database.url, logger: createLogger('warn'), poolSize: 2 }),
  );
  beforeEach(async () => {
    await service.pool.query('DELETE FROM instance');
    parent = await mkdtemp(join(tmpdir(), 'ownline-key-'));
    dataDir = join(parent, 'not', 'yet');
    file = join(dataDir, 'secrets.key');
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  const read = async (key?: string) => {
    const settings = { DATABASE_URL: database.url, DATA_DIR: dataDir, ...(key ? { SECRETS_KEY: key } : {}) };
    return new Secrets(await loadSecretsKey(service.pool, readConfig(settings)));
  };
  const refused = async (sentence: RegExp) => {
    await assert.rejects(read(), (error: Error) => {
      assert.ok(error instanceof ConfigError, String(error.stack));
      assert.ok(error.message.includes(file), error.message);
      assert.match(error.message, sentence);
      return true;
    });
  };
  const newKey = () => randomBytes(32).toString('base64');

  it('the secrets key is created once, readable for its owner only, in a folder that is also created if it is missing', async () => {
    const [one, other] = await Promise.all([read(), read()]);
    assert.deepEqual(one.fingerprint(), other.fingerprint());
    assert.deepEqual((await read()).fingerprint(), one.fingerprint());
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(dataDir)).mode & 0o066, 0, 'no other user lists or writes the folder');
    assert.deepEqual(await readdir(dataDir), ['secrets.key']);
    const text = (await readFile(file, 'utf8')).trim();
    assert.deepEqual(
      (await read(text)).fingerprint(),
      one.fingerprint(),
      'its text is what SECRETS_KEY takes',
    );
  });

  it('a secrets.key that can’t be read is an error, and stays unchanged', async () => {
    await mkdir(file, { recursive: true });
    await refused(/can't be read \(EISDIR\).*or set SECRETS_KEY/);
    assert.ok((await stat(file)).isDirectory());
    await rm(file, { recursive: true });
    await symlink('nowhere', file);
    await refused(/can't be read \(ENOENT\).*or set SECRETS_KEY/);
    assert.deepEqual(await readdir(dataDir), ['secrets.key']);
  });

  it('a key file with other content is an error, even if a lenient parser would find 32 bytes in it', async () => {
    await mkdir(dataDir, { recursive: true });
    for (const text of [
      '',
      'short',
      `${newKey()}${newKey()}`,
      `key: ${newKey().slice(3)}`,
      `${newKey()} #1`,
    ]) {
      await writeFile(file, text);
      await refused(/does not hold a key of 32 bytes in base64\. Restore it from a backup/);
      assert.equal(await readFile(file, 'utf8'), text);
    }
  });

  it('the error for a folder in which no secrets.key can be created names SECRETS_KEY as an alternative', async () => {
    await writeFile(join(parent, 'not'), 'a file in the place of a folder');
    await refused(/SECRETS_KEY/);
  });

  it('a new secrets key is not created if the file is lost and the database has the old key’s fingerprint', async () => {
    await read();
    await rm(file);
    await refused(/is missing.*Restore it from a backup.*docs\/operations\.md, "A lost secrets key"/);
    assert.deepEqual(await readdir(dataDir), []);
  });

  it('a secrets key that differs from the database’s is refused, and the error names the file or SECRETS_KEY', async () => {
    await read();
    await writeFile(file, newKey());
    await refused(/is not the one this database was set up with.*docs\/operations\.md, "A lost secrets key"/);
    await assert.rejects(
      read(newKey()),
      /The key in SECRETS_KEY is not the one this database was set up with/,
    );
  });
});
