import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SimulatedPhone } from '#simulated-phone/simulated-phone.ts';
import { claim } from '#test/support/phones/test-phone.ts';
import { givenSpawnedService } from '#test/support/processes/given-spawned-service.ts';
import { isInstalled } from '#test/support/processes/is-installed.ts';
import { PageBlocks } from '#test/support/processes/page-blocks.ts';
import { firstKey, repository } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const from = '+14155550100';
const to = '+14155550101';
const content = 'Grüße 😀\u2028"quoted"';

describe('receivers (docs/webhooks.md, specification section 6.3)', () => {
  const programs: ChildProcess[] = [];
  const page = given(() => PageBlocks.read('docs/webhooks.md'));
  const folder = givenFolder('ownline-programs-');
  const service = givenSpawnedService({ EGRESS_ALLOW_CIDRS: '127.0.0.1/32' });
  const api = given(async () => new ApiClient(service.baseUrl, await firstKey(service.dataDir)));
  given(async () => {
    const { json } = await api.post('/v1/numbers/verify', { phone_number: from });
    const { baseUrl: server, token: deviceToken } = await claim(api, String(json.setup_url));
    const phone = new SimulatedPhone({ server, deviceToken, failRate: 0, reportsDelivery: false });
    const running = phone.run();
    await until('the phone proved its number', async () =>
      (await api.get('/v1/numbers')).text.includes('"verified":true'),
    );
    const close = async () => {
      phone.switchOff();
      await running;
      for (const program of programs) program.kill('SIGKILL');
    };
    return { close };
  });

  /** Writes a code block of docs/webhooks.md to a file. @param block such as `js receiver.mjs` @returns its path */
  async function programOf(block: string): Promise<string> {
    const file = join(folder, block.split(' ')[1] ?? '');
    await writeFile(file, page.one(block));
    return file;
  }

  /** Makes a webhook for a port that has no listener yet. */
  async function makeWebhook(events = ['message.sent']) {
    const port = await freePort();
    const answer = await api.post('/v1/webhooks', { url: `http://127.0.0.1:${port}/`, events });
    assert.equal(answer.status, 201, answer.text);
    return { port, id: String(answer.json.id), secret: String(answer.json.secret) };
  }

  /** Starts a receiver and waits until it answers. @returns a function that returns its output so far */
  async function start(
    command: readonly [string, ...string[]],
    { port, secret }: { readonly port: number; readonly secret: string },
  ): Promise<() => string> {
    const [program, ...args] = command;
    const child = spawn(program, args, {
      cwd: repository,
      env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    programs.push(child);
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    // This request is no event. Its answer shows that the receiver listens.
    await until('the receiver answers', () =>
      fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).then(
        () => true,
        () => undefined,
      ),
    );
    return () => printed;
  }

  async function refusesForgeries(port: number): Promise<void> {
    const forged = { 'x-service-signature': `sha256=${'0'.repeat(64)}` };
    for (const headers of [forged, {}]) {
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers,
        body: '{"id":"evt_forged","type":"message.sent","data":{"id":"msg_forged"}}',
      });
      assert.equal(answer.status, 401);
    }
  }

  for (const [block, program] of [
    ['js receiver.mjs', process.execPath],
    ['python receiver.py', 'python3'],
  ] as const) {
    it(`the program ${block} of docs/webhooks.md accepts requests of Ownline, and refuses others`, async (t) => {
      if (!isInstalled(program, ['--version'])) return t.skip(`there is no ${program} here`);
      const webhook = await makeWebhook();
      const file = await programOf(block);
      const printed = await start([program, file], webhook);
      const message = await api.send({ from, to, content });
      await until('the receiver shows the event', () => printed().includes(`message.sent ${message}`));
      await refusesForgeries(webhook.port);
      assert.ok(!printed().includes('msg_forged'));
      assert.equal((await api.delete(`/v1/webhooks/${webhook.id}`)).status, 200);
    });
  }

  it('the openssl command of docs/webhooks.md computes the signature in the header from the received bytes', async (t) => {
    if (!isInstalled('openssl', ['version'])) return t.skip('there is no openssl here');
    const webhook = await makeWebhook();
    let given = '';
    const receiver = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      await writeFile(join(folder, 'body.json'), Buffer.concat(chunks));
      given = String(request.headers['x-service-signature']);
      response.end();
    }).listen(webhook.port, '127.0.0.1');
    await api.send({ from, to, content });
    await until('the event arrived', () => given !== '');
    receiver.close();
    const command = await programOf('sh openssl');
    const printed = execFileSync('sh', [command], {
      cwd: folder,
      env: { ...process.env, WEBHOOK_SECRET: webhook.secret },
      encoding: 'utf8',
    });
    assert.equal(given, `sha256=${/[0-9a-f]{64}/.exec(printed)?.[0]}`);
    assert.equal((await api.delete(`/v1/webhooks/${webhook.id}`)).status, 200);
  });

  it('webhook listen shows events with a valid signature, and answers 401 to others', async () => {
    const webhook = await makeWebhook(['message.sent']);
    const printed = await start(
      [
        process.execPath,
        'server/cli/main.ts',
        'webhook',
        'listen',
        ...['--port', String(webhook.port), '--secret', webhook.secret, '--json'],
      ],
      webhook,
    );
    await refusesForgeries(webhook.port);
    const message = await api.send({ from, to, content });
    const lines = () =>
      printed()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const received = await until('the listener shows the event', () =>
      lines().find(({ event }) => JSON.stringify(event ?? null).includes(message)),
    );
    assert.deepEqual(
      [
        received.did,
        received.type,
        received.service_signature,
        received.webhook_signature,
        received.answered,
      ],
      ['received', 'message.sent', 'valid', 'valid', 200],
    );
    assert.deepEqual(lines()[0], {
      did: 'listening',
      url: `http://127.0.0.1:${webhook.port}/`,
      setting: 'EGRESS_ALLOW_CIDRS=127.0.0.1/32',
    });
    const forged = lines().find(({ id }) => id === 'evt_forged');
    assert.deepEqual(
      [forged?.service_signature, forged?.webhook_signature, forged?.answered],
      ['invalid', 'missing', 401],
    );
  });
});
