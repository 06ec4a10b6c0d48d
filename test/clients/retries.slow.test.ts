import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { clientLanguages, linesOf, startProgram } from '#test/support/clients/client-languages.ts';
import { givenClient } from '#test/support/clients/given-client.ts';
import { png } from '#test/support/media/sample-files.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const skipWaits = { SKIP_WAITS: '1' };
const errorPages = (count: number) => Array.from({ length: count }, () => 'error_page' as const);
const accepted = /gave no answer, but the server may have accepted the request: (.+)$/;

for (const language of clientLanguages)
  describe(`retries of the client for ${language.name} (specification sections 4.3, 6.3 and 7)`, () => {
    const reason = language.whyNotRun() ?? false;
    if (reason) {
      it(`the client for ${language.name} runs`, { skip: reason });
      return;
    }
    const { service, team, proxy, folder } = givenClient(language);

    /** Starts a command of the program, which makes its requests through the proxy. */
    const startCommand = (
      command: string,
      args: readonly string[] = [],
      env: Readonly<Record<string, string>> = {},
    ) =>
      startProgram(language, {
        folder,
        name: 'program',
        args: [command, ...args],
        env: { OWNLINE_URL: proxy.url, OWNLINE_API_KEY: team.api.key, ...env },
      });

    /** Runs a command of the program. @returns the values that it printed */
    const run = async (...command: Parameters<typeof startCommand>) =>
      linesOf(await startCommand(...command).ended);

    /** Runs a command that gets no answer. @returns the message of its error */
    async function messageOf(...command: Parameters<typeof startCommand>): Promise<string> {
      const [error] = await run(...command);
      const [code, status, , , message] = error as readonly unknown[];
      assert.deepEqual([code, status], ['no_answer', 0]);
      return String(message);
    }

    it(`the client for ${language.name} uploads a file, and once more after 429`, async () => {
      writeFileSync(join(folder, 'menu.png'), png);
      proxy.interrupt('rate_limited');
      assert.deepEqual((await run('upload', ['menu.png'], skipWaits)).slice(0, 3), [
        png.length,
        png.length,
        png.length,
      ]);
      assert.equal(proxy.requests.length, 4);
    });

    it(`the client for ${language.name} repeats a send with its Idempotency-Key, so that it is accepted once`, async () => {
      const { phoneNumber } = await connectNumber(service, team);
      proxy.interrupt('lost_answer', 'error_page', 'lost_answer', 'error_page', 'lost_answer', 'error_page');
      const [answer] = await run('send', [phoneNumber, '+14155550101', 'Grüße 😀'], skipWaits);
      const sends = proxy.requests.filter(({ call }) => call === 'POST /v1/messages/send');
      assert.equal(sends.length, 7);
      assert.match(sends[0]?.idempotencyKey ?? '', /^[0-9a-f-]{36}$/);
      assert.equal(new Set(sends.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
      const { json } = await team.api.get(`/v1/messages?from=${encodeURIComponent(phoneNumber)}`);
      const messages = json.messages as readonly { readonly id: string; readonly content: string }[];
      assertEach(messages, ({ id, content }) => ({ id, content }), [
        { id: (answer as string[])[0], content: 'Grüße 😀' },
      ]);
    });

    it(`the client for ${language.name} gives up after seven tries, which last longer than a restart, and names the last failure`, async () => {
      proxy.interrupt(...errorPages(7));
      const [error, waits] = await run('send', ['+14155550100', '+14155550101', 'Hello'], skipWaits);
      assert.deepEqual((error as unknown[]).slice(0, 4), ['unreadable_answer', 502, null, false]);
      assert.equal(proxy.requests.length, 7);
      checkWaits(waits, [0.5, 1, 2, 4, 8, 16]);
    });

    it(`the client for ${language.name} waits as long as Retry-After says before it repeats a request`, async () => {
      proxy.interrupt('rate_limited', 'rate_limited');
      assert.deepEqual(await run('createWebhook'), [true]);
      const [first, second, third] = proxy.requests.map(({ atMs }) => atMs);
      assert.ok(first !== undefined && second !== undefined && third !== undefined);
      assert.ok(second - first >= 990 && third - second >= 990);
    });

    it(`the client for ${language.name} waits until the date in Retry-After`, async () => {
      proxy.interrupt('rate_limited_until');
      assert.deepEqual(await run('createWebhook'), [true]);
      const [first, second] = proxy.requests.map(({ atMs }) => atMs);
      assert.ok(first !== undefined && second !== undefined && second - first >= 900);
    });

    it(`the client for ${language.name} does not repeat a request that may have created something`, async () => {
      proxy.interrupt('lost_answer');
      const [error] = await run('createWebhook');
      assert.deepEqual((error as unknown[]).slice(0, 4), ['no_answer', 0, null, false]);
      assert.equal(proxy.requests.length, 1);
    });

    it(`a request of the event reader of the client for ${language.name} waits 25 s for its answer, whatever time-out the client has`, async () => {
      const reading = await service.newTeam();
      const { wire } = await connectNumber(service, reading);
      proxy.interrupt();
      const reader = startCommand('read', ['short.cursor', '1', '0.001'], {
        OWNLINE_API_KEY: reading.api.key,
      });
      await until('the reader waits for an event', () => proxy.requests.length > 0);
      await wire.call('inbound', { from: '+14155550101', text: 'Hello' });
      assert.deepEqual(linesOf(await reader.ended), ['Hello']);
      assertEach(proxy.requests, ({ call }) => call, ['GET /v1/events?wait=25']);
    });

    it(`the event reader of the client for ${language.name} waits at most 5 s between two tries`, async () => {
      const reading = await service.newTeam();
      const { wire } = await connectNumber(service, reading);
      await wire.call('inbound', { from: '+14155550101', text: 'Hello' });
      proxy.interrupt(...errorPages(20));
      const env = { OWNLINE_API_KEY: reading.api.key, ...skipWaits };
      const [text, waits] = await run('read', ['outage.cursor', '1'], env);
      assert.equal(text, 'Hello');
      assert.equal(proxy.requests.length, 21);
      checkWaits(waits, [0.5, 1, 2, 4, ...Array.from({ length: 16 }, () => 5)]);
    });

    it(`the event reader of the client for ${language.name} waits two minutes if Retry-After asks for more, and a send fails then`, async () => {
      const reading = await service.newTeam();
      const { wire } = await connectNumber(service, reading);
      await wire.call('inbound', { from: '+14155550101', text: 'Hello' });
      proxy.interrupt('maintenance');
      const env = { OWNLINE_API_KEY: reading.api.key, ...skipWaits };
      assert.deepEqual(await run('read', ['maintenance.cursor', '1'], env), ['Hello', [120]]);
      proxy.interrupt('maintenance');
      const [error, waits] = await run('send', ['+14155550100', '+14155550101', 'Hello'], skipWaits);
      assert.deepEqual((error as unknown[]).slice(0, 2), ['unreadable_answer', 503]);
      assert.deepEqual(waits, []);
    });

    it(`the client for ${language.name} follows no redirect, so that no other host gets the API key`, async () => {
      proxy.interrupt('redirect');
      const [error] = await run('send', ['+14155550100', '+14155550101', 'Hello']);
      assert.deepEqual((error as unknown[]).slice(0, 2), ['unreadable_answer', 307]);
      assert.equal(proxy.requests.length, 1);
    });

    it(`the client for ${language.name} refuses an id that would change the path of its request`, async () => {
      for (const id of ['', '.', '..']) await assert.rejects(run('get', [id]), /id must be an id of/);
    });

    it(`the client for ${language.name} refuses a server address that is not http or https, or has a path`, async () => {
      const addresses = [
        'localhost:3000',
        'ftp://127.0.0.1',
        'http://',
        'http://127.0.0.1:abc',
        'http://a b',
        `${proxy.url}/v1`,
      ];
      for (const OWNLINE_URL of addresses)
        await assert.rejects(
          run('list', [], { OWNLINE_URL, ...skipWaits }),
          (error: Error) =>
            error.message.includes(`The url must be like`) && error.message.includes(`, not ${OWNLINE_URL}.`),
          OWNLINE_URL,
        );
    });

    it(`the client for ${language.name} treats an empty address or key as missing, and does not read the environment instead`, async () => {
      const values = [
        [proxy.url, ''],
        ['', team.api.key],
      ];
      for (const [url = '', key = ''] of values)
        await assert.rejects(run('construct', [url, key]), /Set OWNLINE_URL and OWNLINE_API_KEY, or pass/);
      assert.deepEqual(await run('construct', [`${proxy.url}/`, team.api.key]), [true]);
    });

    describe('the reason in a no_answer error', () => {
      for (const { address, url, ending } of [
        {
          address: 'a closed port',
          url: async () => `http://127.0.0.1:${await freePort()}`,
          ending: ': connection refused. Is the service running at this address?',
        },
        {
          address: 'an unknown host',
          url: async () => 'http://nothing.invalid',
          ending: ': unknown host: its name was not resolved',
        },
        {
          address: 'https to a port for http',
          url: async () => proxy.url.replace('http:', 'https:'),
          ending: ': TLS failed. Does the service have https at this address?',
        },
      ])
        it(`the error of the client for ${language.name} names ${address}, and says that the server cannot have accepted the request`, async () => {
          const OWNLINE_URL = await url();
          const message = await messageOf('createWebhook', [], { OWNLINE_URL });
          assert.equal(message, `${OWNLINE_URL}/v1/webhooks gave no answer${ending}`);
        });

      it(`the error of the client for ${language.name} names a closed connection, and says that the server may have accepted the change`, async () => {
        proxy.interrupt('lost_answer');
        assert.match(await messageOf('createWebhook', []), accepted);
        proxy.interrupt(...Array.from({ length: 7 }, () => 'lost_answer' as const));
        const message = await messageOf('list', [], skipWaits);
        assert.match(message, /gave no answer: .+/);
        assert.equal(proxy.requests.length, 7);
      });

      it(`the error of the client for ${language.name} names a time-out`, async () => {
        const silent = createServer(() => undefined);
        await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
        const message = await messageOf('createWebhook', ['0.5'], { OWNLINE_URL: urlOf(silent) });
        assert.equal(accepted.exec(message)?.[1], 'time-out');
        silent.close();
      });

      it(`the error of the client for ${language.name} says if an earlier try may have been accepted`, async () => {
        const ending = createServer((request, response) => {
          ending.close();
          request.resume().once('end', () => response.destroy());
        });
        await new Promise<void>((resolve) => ending.listen(0, '127.0.0.1', resolve));
        const env = { OWNLINE_URL: urlOf(ending), ...skipWaits };
        const message = await messageOf('send', ['+14155550100', '+14155550101', 'Hello'], env);
        assert.match(accepted.exec(message)?.[1] ?? '', /^connection refused/);
      });
    });
  });

/** Checks waits in seconds: each is half to all of its full length, because the client shortens it at random. */
function checkWaits(waits: unknown, full: readonly number[]): void {
  assert.ok(Array.isArray(waits));
  const within = full.map((seconds, index) => waits[index] >= seconds / 2 && waits[index] <= seconds + 1e-9);
  assert.ok(waits.length === full.length && within.every(Boolean), JSON.stringify(waits));
}

function urlOf(server: Server): string {
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}`;
}
