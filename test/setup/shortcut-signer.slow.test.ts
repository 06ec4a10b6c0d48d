import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '#server/platform/config.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { ShortcutSigner } from '#server/setup/shortcut-signer.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { until } from '#test/support/service/until.ts';
import { makeSigningCommand } from '#test/support/setup/signing-command.ts';

const shortcut = { name: 'Ownline Outbox', propertyList: Buffer.from('bplist00 …') };
const other = { name: 'Ownline Inbound', propertyList: Buffer.from('bplist00 another') };

describe('the signing command (specification section 11.8)', () => {
  let dataDir: string;
  let clock: Clock;
  let lines: string[];
  const removals: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'ownline-signer-'));
    clock = new Clock();
    lines = [];
  });
  afterEach(async () => {
    await Promise.all(removals.splice(0).map((remove) => remove()));
    await rm(dataDir, { recursive: true });
  });

  /** Makes a signer that logs to `lines`. @param setting the command @param settings further settings */
  const signerOf = (setting: string, settings: Readonly<Record<string, string>> = {}) => {
    const config = readConfig({
      DATA_DIR: dataDir,
      SHORTCUT_SIGN_COMMAND: setting,
      PATH: process.env.PATH,
      ...settings,
    });
    assert.ok(config.shortcutSignCommand);
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    return new ShortcutSigner({ clock, logger, config }, config.shortcutSignCommand);
  };
  const signerWith = async (body?: string, settings: Readonly<Record<string, string>> = {}) => {
    const command = await makeSigningCommand(body);
    removals.push(command.remove);
    return { ...command, signer: signerOf(command.setting, settings) };
  };
  const kept = () => readdir(join(dataDir, 'shortcuts/signed'));

  it('the command gets a file named like the shortcut; the signed one is kept by content, for the service’s user only (§11.8/sign-command)', async () => {
    const { signer, runs } = await signerWith();
    assert.equal(await signer.find(shortcut), undefined);
    assert.equal(String(await signer.sign(shortcut)), 'AEA1bplist00 …');
    assert.equal(String(await signer.sign(shortcut)), 'AEA1bplist00 …');
    assert.equal(String(await signer.find(shortcut)), 'AEA1bplist00 …');
    assert.deepEqual(await runs(), ['Ownline Outbox.shortcut']);
    await signer.sign(other);
    const files = await kept();
    assert.equal(files.length, 2, 'no working folder is left');
    const [file = ''] = files;
    assert.equal((await stat(join(dataDir, 'shortcuts/signed', file))).mode & 0o777, 0o600);
    assert.equal((await stat(join(dataDir, 'shortcuts/signed'))).mode & 0o777, 0o700);
  });

  it('the command runs one at a time, and only once for simultaneous calls with the same file (§11.8/sign-command)', async () => {
    const { signer, runs } = await signerWith(
      'mkdir "$(dirname "$0")/busy" || exit 9; printf AEA1 > "$2"; sleep 0.1; rmdir "$(dirname "$0")/busy"',
    );
    const files = await Promise.all([shortcut, other, shortcut, other].map((one) => signer.sign(one)));
    assert.deepEqual(files.map(String), ['AEA1', 'AEA1', 'AEA1', 'AEA1']);
    assert.deepEqual(await runs(), ['Ownline Outbox.shortcut', 'Ownline Inbound.shortcut']);
  });

  it('a signed file is deleted after the 24 hours of a setup link (§11.8/sign-command)', async () => {
    const { signer, runs } = await signerWith();
    await signer.sign(shortcut);
    clock.advance(24 * 3_600_000 + 1_000);
    assert.equal(await signer.find(shortcut), undefined);
    await signer.sign(other);
    assert.equal((await kept()).length, 1, 'the old file is deleted');
    assert.deepEqual(await runs(), ['Ownline Outbox.shortcut', 'Ownline Inbound.shortcut']);
  });

  const failures: Readonly<Record<string, readonly [body: string, reason: RegExp]>> = {
    'an exit code, with the first lines of standard error': [
      'printf "no signing identity\\nlog in first\\n3\\n4\\n5\\n6\\n" >&2; exit 3',
      /the command exited with 3\. no signing identity \/ log in first \/ 3 \/ 4 \/ 5"/,
    ],
    'a result that is not signed': ['cp "$1" "$2"', /is not signed: a signed shortcut begins with AEA1/],
    'no result': ['true', /the command exited with 0 and wrote no file to \{out\}/],
    'a result that is too large': ['head -c 2000000 /dev/zero > "$2"', /too large for a shortcut/],
  };
  for (const [name, [body, reason]] of Object.entries(failures)) {
    it(`${name} is a failure: it is logged, and no file is stored (§11.8/sign-command)`, async () => {
      const { signer } = await signerWith(body);
      assert.equal(await signer.sign(shortcut), undefined);
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? '', /SHORTCUT_SIGN_COMMAND failed: /);
      assert.match(lines[0] ?? '', reason);
      assert.deepEqual(await kept(), []);
    });
  }

  it('a signing program that does not exist is a failure (§11.8/sign-command)', async () => {
    assert.equal(await signerOf('/no/such/program {in} {out}').sign(shortcut), undefined);
    assert.match(lines[0] ?? '', /ENOENT/);
  });

  it('the command is killed with its child processes after 60 s (§11.8/sign-command)', async () => {
    const { signer, runs } = await signerWith('sleep 3600');
    const late = signer.sign(shortcut);
    await until('the command runs', async () => (await runs()).length === 1);
    clock.advance(60_000);
    assert.equal(await late, undefined);
    assert.match(lines[0] ?? '', /the command took more than 60 s/);
  });

  const detached =
    'pid="$(dirname "$0")/pid"; [ -e "$pid" ] || { setsid sleep 3600 & echo $! > "$pid.new"; mv "$pid.new" "$pid"; }; ';
  const endDetached = async (folder: string) => {
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'));
    assert.ok(pid > 1);
    process.kill(pid, 'SIGKILL');
  };
  const endings: Readonly<Record<string, readonly [body: string, isSigned: boolean]>> = {
    'the command’s exit with a result': ['printf AEA1 > "$2"', true],
    'the command’s exit with a failure': ['exit 3', false],
    'its time limit': ['exec sleep 3600', false],
  };
  for (const [name, [body, isSigned]] of Object.entries(endings)) {
    it(`a signing call ends at ${name}, even if a detached process keeps the command’s standard error open (§11.8/sign-command)`, async () => {
      const { signer, runs, folder } = await signerWith(detached + body);
      let isSettled = false;
      const result = signer.sign(shortcut).finally(() => {
        isSettled = true;
      });
      await until('the command runs', async () => (await readdir(folder)).includes('pid'));
      removals.unshift(() => endDetached(folder));
      if (name === 'its time limit') clock.advance(60_000);
      await until('the call ends', () => isSettled);
      assert.equal(String(await result), isSigned ? 'AEA1' : 'undefined');
      const next = signer.sign(other);
      await until('the next one runs', async () => (await runs()).length === 2);
      signer.stop();
      await next;
    });
  }

  it('a stop of the service ends the running command, and starts none of those that wait (§11.8/sign-command)', async () => {
    const { signer, runs, folder } = await signerWith(`${detached}exec sleep 3600`);
    const calls = Promise.all([signer.sign(shortcut), signer.sign(other)]);
    await until('the command runs', async () => (await readdir(folder)).includes('pid'));
    removals.unshift(() => endDetached(folder));
    signer.stop();
    assert.deepEqual(await calls, [undefined, undefined]);
    assert.equal(await signer.sign(other), undefined);
    assert.deepEqual(await runs(), ['Ownline Outbox.shortcut']);
    assert.deepEqual(lines, []);
  });

  it('a file whose signing failed is not tried again for 5 minutes (§11.8/sign-command)', async () => {
    const { signer, runs } = await signerWith('exit 3');
    assert.ok(signer.accepts(shortcut));
    assert.equal(await signer.sign(shortcut), undefined);
    clock.advance(299_000);
    assert.ok(!signer.accepts(shortcut));
    assert.equal(await signer.sign(shortcut), undefined);
    assert.equal((await runs()).length, 1);
    assert.ok(signer.accepts(other), 'another file is tried');
    clock.advance(1_000);
    assert.ok(signer.accepts(shortcut));
    await signer.sign(shortcut);
    assert.equal((await runs()).length, 2);
  });

  it('at most 8 files wait to be signed, a further file is refused at once, and simultaneous calls sign a file once (§11.8/sign-command)', async () => {
    const { signer, runs, folder } = await signerWith(
      'until [ -e "$(dirname "$0")/go" ]; do sleep 0.05; done; printf AEA1 > "$2"',
    );
    const files = Array.from({ length: 9 }, (_, count) => ({
      ...shortcut,
      propertyList: Buffer.from(`bplist00 ${count}`),
    }));
    const calls = Promise.all([...files, ...files].map((file) => signer.sign(file)));
    await until('the command runs', async () => (await runs()).length === 1);
    assert.equal(await signer.sign(other), undefined);
    assert.match(lines[0] ?? '', /was not run: 8 files wait for it already/);
    assertEach([...files, other], (file) => signer.accepts(file), [...Array(9).fill(true), false]);
    await writeFile(join(folder, 'go'), '');
    assert.deepEqual((await calls).map(String), Array(18).fill('AEA1'));
    assert.equal((await runs()).length, 9);
    assert.equal(String(await signer.sign(other)), 'AEA1');
  });

  it('the environment of the command has no setting of Ownline (§11.8/sign-command)', async () => {
    const { signer } = await signerWith('printf AEA1 > "$2"; env >> "$2"', {
      METRICS_TOKEN: 'a-secret-of-the-service',
    });
    const seen = String(await signer.sign(shortcut));
    assert.match(seen, /^AEA1PATH=/);
    assert.doesNotMatch(seen, /a-secret-of-the-service|DATABASE_URL|DATA_DIR/);
  });
});
