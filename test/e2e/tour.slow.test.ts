import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ApiClient } from '#test/support/service/api-client.ts';
import { givenSpawnedService } from '#test/support/service/given-spawned-service.ts';
import {
  firstKey,
  firstLink,
  repository,
  type SpawnedService,
} from '#test/support/service/spawned-service.ts';

describe('the first five minutes (README, specification section 10.1)', () => {
  let dataDir: string;
  let close: () => Promise<void>;
  let service: SpawnedService;

  before(async () => {
    // With the pacing that a first start has.
    ({ service, dataDir, close } = await givenSpawnedService({ PACING: 'gentle' }));
  });
  after(() => close());

  it('a first start without a terminal writes the key and the link to a file for its owner only, and prints the path', async () => {
    const file = join(dataDir, 'first-start.txt');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.ok(service.output().includes(file));
    for (const secret of [await firstKey(dataDir), await firstLink(dataDir)]) {
      assert.ok(secret.length > 40 && !service.output().includes(secret), 'neither is in the output');
    }
  });

  it('the tour of the README runs as it is printed, up to a delivered message and its reply, and once more', async () => {
    const readme = await readFile(join(repository, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/```sh tour( end)?\n([\s\S]*?)```/g)].map((match) => match[2] ?? '');
    assert.equal(blocks.length, 4);
    const key = await firstKey(dataDir);
    const end = blocks.pop() ?? '';
    const script = [
      `set -eu\nexport DATA_DIR=${dataDir}\nOWNLINE=${service.baseUrl}\nKEY=${key}`,
      ...blocks,
      `read -r _\n${end}\nwait $PHONE || true`,
    ].join('\n');
    for (const run of ['first', 'second']) {
      // The reply is passed on beside the report: the phone is switched off once it has printed both.
      const output = await bash(script, /^received .*$/m);
      assert.match(output, /"status":"queued"/);
      assert.match(output, /"status":"delivered"/);
      const reply = /^received +id=(msg_\w+) from=\+14155550101 text="Yes, see you then"$/m.exec(output)?.[1];
      assert.ok(reply, `${run}: ${output}`);
      const message = await new ApiClient(service.baseUrl, key).get(`/v1/messages/${reply}`);
      assert.equal(message.json.content, 'Yes, see you then');
      assert.equal(message.json.status, 'received');
    }
  });

  it('where a step of the tour is refused, it says why instead of going on with nothing', async () => {
    const readme = await readFile(join(repository, 'README.md'), 'utf8');
    const connect = /```sh tour\n([\s\S]*?)npm run/.exec(readme)?.[1] ?? '';
    const script = `set -eu\nOWNLINE=${service.baseUrl}\nKEY=wrong\n${connect}`;
    const output = await bash(script, /./).catch(String);
    assert.match(output, /API key/);
  });
});

/** Runs a script; its standard input gets a line once the output shows `readyWhen`. @returns its output */
function bash(script: string, readyWhen: RegExp): Promise<string> {
  const child = spawn('bash', ['-c', script], { cwd: repository, stdio: 'pipe', timeout: 60_000 });
  // A script that is refused may have ended before its line.
  child.stdin.on('error', () => undefined);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (readyWhen.test(output)) child.stdin.end('\n');
    });
  }
  return new Promise((resolve, reject) => {
    child.on('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`the tour ended with ${code}:\n${output}`)),
    );
  });
}
