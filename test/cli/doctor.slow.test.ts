import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { BackupRun } from '#server/backups/archive/backups-store.ts';
import type { Check } from '#server/cli/doctor/check.ts';
import { checkBackups } from '#server/cli/doctor/check-backups.ts';
import { checkDisk, checkFiles } from '#server/cli/doctor/check-files.ts';
import { checkEgress, checkMail } from '#server/cli/doctor/check-outside.ts';
import { readConfig } from '#server/platform/config.ts';
import { findFirstTeam, getRoutingTag } from '#server/teams/team/team.ts';
import { takeTableAway } from '#test/support/database/table-faults.ts';
import { startMailServer } from '#test/support/mail/mail-server.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { canMountDisk, makeSmallDisk } from '#test/support/processes/small-disk.ts';
import { startChangingProxy } from '#test/support/proxies/changing-proxy.ts';
import { assertNone } from '#test/support/service/assert-each.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';
import { putWebhook } from '#test/support/webhooks/make-webhooks.ts';

const metricsToken = 'a-token-for-tests';

describe('ownline doctor', () => {
  const service = givenService({ METRICS_TOKEN: metricsToken, TRUST_PROXY: '127.0.0.1' });
  const folder = givenFolder('ownline-doctor-');
  const commands = given(
    () =>
      new CommandLine(service.dataDir, {
        DATABASE_URL: service.databaseUrl,
        PORT: new URL(service.baseUrl).port,
        METRICS_TOKEN: metricsToken,
        TRUST_PROXY: '127.0.0.1',
      }),
  );

  before(() => rm(join(service.dataDir, 'first-start.txt'), { force: true }));

  const examine = async (words: readonly string[] = [], settings: Readonly<Record<string, string>> = {}) => {
    const { code, output, errors } = await commands.run(['doctor', '--quick', '--json', ...words], settings);
    assert.equal(errors, '');
    const { checks } = JSON.parse(output) as { checks: Check[] };
    return { code, checks, of: (name: string) => checks.filter((check) => check.name === name) };
  };
  const statesOf = (checks: readonly Check[]) => checks.map(({ name, state }) => `${name} ${state}`);

  it('ownline doctor prints a line for each check of a running service, and exits 0 even with warnings', async (t) => {
    const proxy = await startChangingProxy(service.baseUrl);
    const authority = join(folder, 'authority.pem');
    await writeFile(authority, proxy.certificate);
    const settings = { BASE_URL: proxy.url, NODE_EXTRA_CA_CERTS: authority };
    t.after(() => proxy.close());
    const { code, checks } = await examine([], settings);
    assert.equal(code, 0);
    assert.deepEqual(statesOf(checks), [
      'settings ok',
      'service ok',
      'jobs ok',
      'database ok',
      'schema ok',
      'database_latency ok',
      'database_connections ok',
      'database_writes ok',
      'clock ok',
      'restore ok',
      'outage ok',
      'retention ok',
      'secrets_key ok',
      'webhook_secrets ok',
      'disk ok',
      'files ok',
      'backup warning',
      'shortcuts warning',
      'shortcuts warning',
      'mail ok',
      'egress ok',
      'address warning',
      'tls ok',
      'device_endpoint ok',
      'body ok',
      'host ok',
      'client_address ok',
      'http2 ok',
      'large_body ok',
    ]);
    assertNone(
      checks,
      ({ state, fix }) => (state === 'ok') !== (fix === null),
      'each warning and failure says what to do',
    );
    const { output } = await commands.run(['doctor', '--quick'], settings);
    assert.match(output, /^✓ settings: All settings can be read\.\n✓ service: /);
    assert.match(output, /\n! address: .* no iPhone can reach it\.\n {4}Set BASE_URL to an https address/);
    assert.match(output, /\n\n0 failed, 4 warnings, 25 ok\n$/);
  });

  it('ownline doctor exits 1 if the service does not run, and checks the rest', async () => {
    const stopped = await examine([], { PORT: '1' });
    assert.equal(stopped.code, 1);
    assert.deepEqual(statesOf(stopped.of('service')), ['service failed']);
    assert.match(stopped.of('service')[0]?.message ?? '', /No service answers at 127\.0\.0\.1:1/);
    assert.deepEqual(statesOf(stopped.of('schema')), ['schema ok']);
    assert.match(stopped.of('address')[0]?.message ?? '', /was not checked/);
    const away = await examine([], { DATABASE_URL: 'postgresql://role:secret-word@127.0.0.1:1/none' });
    assert.equal(away.code, 1);
    const [database] = away.of('database');
    assert.equal(database?.state, 'failed');
    assert.match(database.message, /127\.0\.0\.1:1, where no PostgreSQL listens/);
    assert.ok(!JSON.stringify(away.checks).includes('secret-word'));
    const embedded = await examine([], { DATABASE_URL: '', DATA_DIR: folder, PORT: '1' });
    assert.deepEqual(statesOf(embedded.of('database')), ['database warning']);
    assert.match(embedded.of('database')[0]?.message ?? '', /No embedded database runs in DATA_DIR/);
    assert.deepEqual(statesOf(embedded.of('secrets_key')), ['secrets_key warning']);
    await mkdir(join(folder, 'pg'), { recursive: true });
    const keyless = await examine([], { DATABASE_URL: '', DATA_DIR: folder, PORT: '1' });
    assert.deepEqual(statesOf(keyless.of('secrets_key')), ['secrets_key failed']);
  });

  it('ownline doctor checks the service’s address, and says whether it is from the service’s record or from the settings', async () => {
    const messageOf = async (settings: Readonly<Record<string, string>>) => {
      const [check] = (await examine([], settings)).of('service');
      return `${check?.state} ${check?.message}`;
    };
    const { host } = new URL(service.baseUrl);
    const record = join(service.dataDir, 'address.json');
    assert.equal(
      await messageOf({ PORT: '' }),
      `ok The service at ${host} runs and is ready. It recorded this address in ${record}.`,
    );
    assert.equal(
      await messageOf({}),
      `ok The service at ${host} runs and is ready. The address is that of the settings.`,
    );
    assert.match(
      await messageOf({ PORT: '1' }),
      /^failed No service answers at 127\.0\.0\.1:1 .*\. The address is that of the settings\.$/,
    );
    const saved = await readFile(record);
    await rm(record);
    try {
      assert.match(
        await messageOf({ PORT: '' }),
        /at 127\.0\.0\.1:3000.* The address is the default: no setting and no record names another\.$/,
      );
    } finally {
      await writeFile(record, saved);
    }
  });

  it('ownline doctor checks DEVICE_URL with the routing tag of the oldest team in place of {team}', async () => {
    const first = await findFirstTeam(service.runtime.database.pool);
    assert.ok(first);
    const tag = await getRoutingTag(service.runtime.database.pool, first.id);
    const { checks } = await examine([], { DEVICE_URL: 'https://{team}.phones.invalid' });
    assert.ok(checks.some(({ message }) => message.includes(`https://${tag}.phones.invalid`)));
  });

  it('ownline doctor names each wrong or misspelt setting, and reports a wrong secrets key', async () => {
    const wrong = await examine([], { PORT: 'x', BASE_URL: 'nowhere', DATABSE_URL: 'x' });
    assert.equal(wrong.code, 1);
    assert.deepEqual(new Set(statesOf(wrong.checks)), new Set(['settings failed']));
    assert.equal(wrong.checks.length, 3);
    const misspelt = await examine([], { DATABSE_URL: 'x', SECRETS_KEY: `${'A'.repeat(43)}=` });
    assert.equal(misspelt.code, 1);
    assert.match(misspelt.of('settings')[0]?.message ?? '', /Did you mean DATABASE_URL\?/);
    assert.match(misspelt.of('secrets_key')[0]?.message ?? '', /does not belong to this database/);
    assert.match(misspelt.of('body')[0]?.message ?? '', /needs the secrets key/);
  });

  it('ownline doctor names a background job that fails', async (t) => {
    const table = await takeTableAway(service, 'unpublished_events');
    t.after(() => table.restore());
    await until('the publisher fails', async () => {
      const headers = { authorization: `Bearer ${metricsToken}` };
      const answer = await fetch(`${service.baseUrl}/readyz?verbose`, { headers });
      return (await answer.text()).includes('"failing"');
    });
    const { of } = await examine();
    assert.match(of('jobs')[0]?.message ?? '', /“publish events” is failing: relation "unpublished_events"/);
  });

  it('ownline doctor names the webhooks whose secret the secrets key does not open', async () => {
    const team = await service.newTeam();
    const { publicId } = await putWebhook(service, team.id, ['message.sent']);
    const { code, of } = await examine();
    assert.equal(code, 1);
    const [check] = of('webhook_secrets');
    assert.equal(check?.state, 'failed');
    assert.ok(check.message.includes(publicId), check.message);
    await team.api.delete(`/v1/webhooks/${publicId}`);
    assert.deepEqual(statesOf((await examine()).of('webhook_secrets')), ['webhook_secrets ok']);
  });

  it('ownline doctor names files that other users can read, and the file with the first start’s key and link', async () => {
    const { dataDir } = service;
    assert.deepEqual(statesOf(await checkFiles({ dataDir })), ['files ok']);
    await chmod(join(dataDir, 'secrets.key'), 0o644);
    await writeFile(join(dataDir, 'first-start.txt'), 'a key');
    await chmod(dataDir, 0o777);
    const checks = await checkFiles({ dataDir });
    assert.deepEqual(statesOf(checks), ['files failed', 'files warning', 'files failed']);
    assert.equal(checks[0]?.fix, `Run: chmod 600 ${join(dataDir, 'secrets.key')}`);
    await chmod(dataDir, 0o700);
    await chmod(join(dataDir, 'secrets.key'), 0o600);
    await rm(join(dataDir, 'first-start.txt'));
  });

  it('ownline doctor shows the disk and free space of BACKUP_DIR, and the result of the latest backup', async () => {
    const now = service.clock.nowMs();
    const run = {
      started_at: new Date(now - 60_000),
      finished_at: new Date(now),
      file: 'a',
      bytes: 1_000,
      error: null,
      unproved: null,
    };
    const check = async (changed: object, last: Partial<BackupRun> = {}, backupFolder = folder) => {
      const backup = { folder: backupFolder, keep: 7, passphraseFile: undefined };
      const config = { backup, dataDir: service.dataDir, databaseUrl: undefined, ...changed };
      const both = { latest: { ...run, ...last }, success: { ...run, ...last }, failure: undefined };
      return statesOf(await Array.fromAsync(checkBackups(config, both, now)));
    };
    assert.deepEqual(await check({ databaseUrl: service.databaseUrl }), ['backup_folder ok', 'backup ok']);
    assert.deepEqual(await check({}), ['backup_folder ok', 'backup_disk warning', 'backup ok']);
    assert.deepEqual(await check({}, {}, join(folder, 'none')), ['backup_folder failed']);
    assert.deepEqual(await check({ backup: undefined }), ['backup warning']);
    const full = await check({ databaseUrl: '' }, { bytes: Number.MAX_SAFE_INTEGER });
    assert.deepEqual(full, ['backup_folder failed', 'backup ok']);
    const old = { started_at: new Date(now - 37 * 3_600_000) };
    for (const last of [old, { error: 'Its disk is full.' }])
      assert.deepEqual(await check({ databaseUrl: '' }, last), ['backup_folder ok', 'backup warning']);
  });

  it('ownline doctor says whether the service wrote to BACKUP_DIR, or only this command could', async () => {
    const messageWith = async (file: string | null) => {
      const at = service.clock.now();
      const run = { started_at: at, finished_at: at, file, bytes: 1_000, error: null, unproved: null };
      const config = {
        backup: { folder, keep: 7, passphraseFile: undefined },
        dataDir: service.dataDir,
        databaseUrl: '',
      };
      const last = { latest: run, success: run, failure: undefined };
      const [check] = await Array.fromAsync(checkBackups(config, last, at.getTime()));
      return check?.message ?? '';
    };
    assert.match(await messageWith(join(folder, 'a.backup')), /can be written to by the service/);
    assert.match(await messageWith('/elsewhere/a.backup'), /by this command; .* ReadWritePaths=/);
  });

  it('the check of the disk fails if the disk is too small for the database', {
    skip: !canMountDisk(),
  }, async () => {
    const disk = await makeSmallDisk(join(folder, 'disk'), 16);
    try {
      const check = await checkDisk('disk', 'DATA_DIR', disk.seenFromHere);
      assert.equal(check.state, 'failed');
      assert.match(check.message, /\d+ MB of \d+ MB are free/);
    } finally {
      disk.remove();
    }
    const none = await checkDisk('disk', 'DATA_DIR', join(folder, 'none'));
    assert.deepEqual([none.state, /ENOENT/.test(none.message)], ['warning', true]);
  });

  it('the check of mail signs in without sending a mail, unless --send-mail asks for one', async () => {
    const server = await startMailServer({ login: { user: 'ownline', password: 'right' } });
    const configWith = (password: string) =>
      readConfig({
        SMTP_URL: `smtp://ownline:${password}@127.0.0.1:${server.port}`,
        MAIL_FROM: 'texts@example.com',
      });
    try {
      assert.equal((await checkMail(configWith('right'), undefined)).state, 'ok');
      assert.equal(server.received.length, 0);
      const wrong = await checkMail(configWith('wrong'), undefined);
      assert.deepEqual([wrong.state, /password/.test(wrong.fix ?? '')], ['failed', true]);
      assert.equal((await checkMail(configWith('right'), 'ada@example.com')).state, 'ok');
      assert.deepEqual((await server.next()).to, ['ada@example.com']);
      server.behave({ refuse: 550, at: 'recipient' });
      const refused = await checkMail(configWith('right'), 'ada@example.com');
      assert.deepEqual([refused.state, /550/.test(refused.message)], ['failed', true]);
    } finally {
      await server.close();
    }
    assert.equal((await checkMail(readConfig({}), undefined)).state, 'ok');
    assert.equal((await checkMail(readConfig({}), 'ada@example.com')).state, 'failed');
  });

  it('the check of outgoing requests goes through the SSRF guard', async () => {
    const url = `${service.baseUrl}/healthz`;
    const allowed = await checkEgress(readConfig({ EGRESS_ALLOW_CIDRS: '127.0.0.1' }), url);
    assert.match(allowed.message, /was answered with 200/);
    const refused = await checkEgress(readConfig({}), url);
    assert.deepEqual([refused.state, /EGRESS_ALLOW_CIDRS/.test(refused.fix ?? '')], ['failed', true]);
    assert.equal((await checkEgress(readConfig({}), undefined)).state, 'ok');
  });
});
