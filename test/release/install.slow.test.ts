import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { buildClients } from '#release/clients.ts';
import { buildPackage } from '#release/package.ts';
import { isInstalled } from '#test/support/processes/is-installed.ts';
import { PageBlocks } from '#test/support/processes/page-blocks.ts';
import { firstKey, spawnService } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { assertNone } from '#test/support/service/assert-each.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const execute = promisify(execFile);

/** The package has 12.2 MB. This limit notices a library that adds much to it. */
const packageMaxBytes = 13_500_000;

/** npm reads what `npm ci` fetched from its cache. */
const npmInstall = ['install', '--prefer-offline', '--loglevel=error'];

const hasWheel = isInstalled('/usr/bin/python3', ['-c', 'import ensurepip, setuptools, wheel']);
const skip = hasWheel ? false : 'python3-venv, python3-setuptools or python3-wheel of Debian is missing';

interface Component {
  readonly name: string;
  readonly version: string;
  readonly hashes?: object;
  readonly properties: readonly { readonly value: string }[];
}

describe('the package of a release (decision 0057)', () => {
  const folder = givenFolder('ownline-release-');
  const root = join(folder, 'npm/lib/node_modules/ownline');
  const built = given(async () => {
    const file = await buildPackage(join(folder, 'built'));
    await execute('npm', [...npmInstall, '--global', '--prefix', join(folder, 'npm'), file]);
    return { file };
  });
  const read = (path: string) => readFileSync(join(root, path), 'utf8');

  it('two builds of the package have equal bytes, and it is not larger than its limit', async () => {
    const again = await buildPackage(join(folder, 'again'));
    assert.deepEqual(readFileSync(again), readFileSync(built.file));
    const { size } = statSync(again);
    assert.ok(size < packageMaxBytes, `${size} bytes`);
  });

  it('npm installs what the software list names for this machine, and nothing else', () => {
    const { components } = JSON.parse(readFileSync(built.file.replace(/tgz$/, 'cdx.json'), 'utf8'));
    const installed = new Set(
      globSync('**/node_modules/{*,@*/*}/package.json', { cwd: root })
        .map((path) => JSON.parse(read(path)))
        .map(({ name, version }) => `${name} ${version}`),
    );
    const listed = (components as readonly Component[]).filter(({ hashes }) => hashes);
    const titles = new Set(listed.map(({ name, version }) => `${name} ${version}`));
    assert.ok(installed.size > 100);
    assert.deepEqual([...installed.difference(titles)], []);
    const isElsewhere = ({ name, properties }: Component) =>
      properties.some(({ value }) => value === 'dashboard') ||
      (/(?:linux|darwin)-(?:x64|arm64)$/.test(name) && !name.endsWith(`${process.platform}-${process.arch}`));
    const missing = listed.filter(({ name, version }) => !installed.has(`${name} ${version}`));
    assert.deepEqual(
      missing.filter((one) => !isElsewhere(one)),
      [],
    );
  });

  it('the package has no source, test or tool, and each link of its pages leads to one of its files', () => {
    const files = globSync('**/*', { cwd: root, exclude: (path) => path === 'node_modules' });
    assert.deepEqual(
      files.filter((path) => /\.(ts|tsx)$|(^|\/)(test|bench|campaign|release|clients)\//.test(path)),
      [],
    );
    // A path that leads to the clone would make the builds of two clones differ.
    const maps = files.filter((path) => path.endsWith('.js.map'));
    assertNone(maps, (path) => /\//.test(JSON.parse(read(path)).sources.join()));
    const packed = new Set(files);
    const dead = files
      .filter((path) => path.endsWith('.md'))
      .flatMap((page) =>
        [...read(page).matchAll(/\]\(([^)#:\s]+)(#[^)]*)?\)/g)]
          .map(([, target = '']) => join(dirname(page), target).replace(/\/$/, ''))
          .filter((target) => !packed.has(target)),
      );
    assert.deepEqual(dead, []);
  });

  describe('a service that `ownline start` runs in an empty folder', () => {
    const dataDir = givenFolder('ownline-installed-');
    const command = join(folder, 'npm/bin/ownline');
    const service = given(async () => {
      const spawned = await spawnService({ settings: { DATA_DIR: dataDir }, command: [command, 'start'] });
      return { ...spawned, close: () => spawned.kill('SIGTERM') };
    });
    const api = given(async () => new ApiClient(service.baseUrl, await firstKey(dataDir)));
    const ownline = (...words: string[]) =>
      execute(command, words, {
        env: { ...process.env, DATA_DIR: dataDir, PORT: new URL(service.baseUrl).port },
      });

    it('it serves the dashboard, and its messages go to a simulated iPhone of the same package', async () => {
      const page = await (await fetch(`${service.baseUrl}/sign-in`)).text();
      const [, script = ''] = /src="(\/assets\/main-[^"]+)"/.exec(page) ?? [];
      assert.equal((await fetch(service.baseUrl + script)).status, 200);
      const { json } = await api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
      const phone = ownline(
        'phone',
        'simulate',
        '--setup-url',
        String(json.setup_url),
        '--json',
        '--count',
        '1',
      );
      await until('the number is verified', async () =>
        (await api.get('/v1/numbers')).text.includes('"verified":true'),
      );
      const send = { from: '+14155550100', to: '+14155550101', content: 'From the package' };
      const { json: message } = await api.post('/v1/messages/send', send);
      await until(
        'it is sent',
        async () => (await api.get(`/v1/messages/${message.id}`)).json.status !== 'queued',
      );
      phone.child.kill('SIGTERM');
      await phone.catch(() => undefined);
    });

    it('its commands say its version and commit, name themselves `ownline`, and write a backup in a thread', async () => {
      const { gitHead } = JSON.parse(read('package.json'));
      const version = JSON.parse((await ownline('--version', '--json')).stdout);
      assert.equal(version.commit, gitHead.slice(0, 8));
      assert.match(readFileSync(join(dataDir, 'first-start.txt'), 'utf8'), /For another one: ownline link /);
      const backup = await ownline('backup', join(dataDir, 'by-hand.backup'), '--json');
      assert.ok(JSON.parse(backup.stdout).rows > 0);
      assert.match(await (await fetch(`${service.baseUrl}/docs`)).text(), /<title>/);
    });

    it('the clients are equal in two builds, and install in an empty project as their READMEs say, and send a message', {
      skip,
    }, async () => {
      const [tarball = '', wheel = ''] = await buildClients(join(folder, 'clients'));
      const again = await buildClients(join(folder, 'clients-again'));
      assert.deepEqual(
        [tarball, wheel].map((path) => readFileSync(path)),
        again.map((path) => readFileSync(path)),
      );
      const project = join(folder, 'project');
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), '{}');
      const env = { ...process.env, OWNLINE_URL: service.baseUrl, OWNLINE_API_KEY: api.key };
      const offline = {
        PIP_NO_INDEX: '1',
        PIP_DISABLE_PIP_VERSION_CHECK: '1',
        npm_config_prefer_offline: 'true',
      };
      for (const [page, file, block, program] of [
        ['typescript', tarball, 'ts send.ts', [process.execPath, 'send.ts']],
        ['python', wheel, 'python send.py', ['.venv/bin/python', 'send.py']],
      ] as const) {
        const readme = await PageBlocks.read(`clients/${page}/README.md`);
        cpSync(file, join(project, basename(file)));
        const python = 'PATH=/usr/bin:$PATH\n';
        execFileSync('sh', ['-ec', python + readme.one('sh install')], {
          cwd: project,
          env: { ...env, ...offline },
        });
        const [runtime, name] = program;
        writeFileSync(join(project, name), readme.one(block));
        assert.match((await execute(runtime, [name], { cwd: project, env })).stdout, /^msg_\w+ queued\n$/);
      }
    });
  });
});
