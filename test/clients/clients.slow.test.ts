import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { signedHeaders } from '#campaign/signature.ts';
import { type EventId, firstIdAt, publicId } from '#server/platform/ids.ts';
import { clientLanguages, linesOf, startProgram } from '#test/support/clients/client-languages.ts';
import { givenClient } from '#test/support/clients/given-client.ts';
import { connectNumber, type DeviceWire } from '#test/support/phones/test-phone.ts';
import { PageBlocks } from '#test/support/processes/page-blocks.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { putAccepted } from '#test/support/usage/given-usage.ts';
import { startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';

const number = '+14155550100';
const freeNumber = '+14155550102';
const examples = [
  ...['send', 'follow', 'replies', 'events', 'begin', 'stop'],
  ...['webhook', 'receiver', 'errors', 'repeat', 'settings', 'operations'],
];

for (const language of clientLanguages)
  describe(`the client for ${language.name} (specification sections 4.3, 4.5, 6.3 and 7)`, () => {
    const reason = language.whyNotRun() ?? false;
    if (reason) {
      it(`the client for ${language.name} runs`, { skip: reason });
      return;
    }
    const { service, team, proxy, folder } = givenClient(language);

    /** Starts a command of the program, which makes its requests through the proxy. */
    const startCommand = (command: string, args: readonly string[], { api } = team) =>
      startProgram(language, {
        folder,
        name: 'program',
        args: [command, ...args],
        env: { OWNLINE_URL: proxy.url, OWNLINE_API_KEY: api.key },
      });

    /** Runs a command of the program through the proxy. @returns the values that it printed, and all its requests */
    async function run(command: string, args: readonly string[] = [], input = '') {
      const { child, ended } = startCommand(command, args);
      child.stdin?.end(input);
      return linesOf(await ended);
    }

    it(`the client for ${language.name} sends a given Idempotency-Key even if it is empty, and does not replace it by a generated one`, async () => {
      proxy.interrupt();
      const [error] = await run('send', ['+14155550100', '+14155550101', 'Hello', '']);
      assert.deepEqual((error as unknown[]).slice(0, 3), ['invalid_request', 400, 'Idempotency-Key']);
    });

    it(`the client for ${language.name} reads all pages of a list, even if a later release adds another list to the answers`, async () => {
      const { phoneNumber } = await connectNumber(service, team);
      const contents = ['one', 'two', 'three', 'four', 'five'];
      for (const content of contents) await team.api.send({ from: phoneNumber, to: '+14155550101', content });
      proxy.interrupt('added_list');
      const listed = await run('list');
      assert.deepEqual(listed.slice(0, 5), contents.toReversed());
      assert.equal(proxy.requests.length, Math.ceil(listed.length / 2));
      assert.deepEqual(await run('search', [String(listed[0])]), [listed[0]]);
      assert.deepEqual(await run('optOuts'), ['+14155550177']);
    });

    it(`an error of the client for ${language.name} has code, status, param, message and request id`, async () => {
      proxy.interrupt();
      const [error] = await run('send', ['+14155550999', '+14155550101', 'Hello']);
      const { json } = await team.api.post('/v1/messages/send', {
        from: '+14155550999',
        to: '+14155550101',
        content: 'Hello',
      });
      const { message } = json.error as { readonly message: string };
      const [request, ...others] = proxy.requests;
      assert.deepEqual(error, ['invalid_request', 400, 'from', true, message, request?.idempotencyKey]);
      assert.deepEqual(others, []);
    });

    it(`an error of the client for ${language.name} contains the Idempotency-Key of a send whose answer the client cannot read`, async () => {
      const { phoneNumber } = await connectNumber(service, team);
      proxy.interrupt('cut_json');
      const [error] = await run('send', [phoneNumber, '+14155550101', 'Hello']);
      const message = `${proxy.url}/v1/messages/send gave an answer (202) that is not one of Ownline.`;
      const [request, ...others] = proxy.requests;
      assert.match(request?.idempotencyKey ?? '', /^[0-9a-f-]{36}$/);
      assert.deepEqual(error, ['unreadable_answer', 202, null, true, message, request?.idempotencyKey]);
      assert.deepEqual(others, []);
    });

    it(`the event reader of the client for ${language.name} continues after its cursor, and repeats an event that was not processed to its end`, async () => {
      const reading = await service.newTeam();
      const { wire } = await connectNumber(service, reading);
      const receive = (text: string) => wire.call('inbound', { from: '+14155550101', text });
      const start = (events: number) => startCommand('read', ['cursor', String(events)], reading);
      for (const text of ['one', 'two', 'three']) await receive(text);
      await until('all texts are in the feed', async () => {
        const { json } = await reading.api.get('/v1/events');
        return (json.events as readonly unknown[]).length === 3;
      });
      proxy.interrupt();
      assert.deepEqual(linesOf(await start(2).ended), ['one', 'two']);
      proxy.interrupt('lost_answer', 'error_page');
      const second = start(3);
      await until('the reader waits for a new event', () => proxy.requests.length === 4);
      await receive('four');
      assert.deepEqual(linesOf(await second.ended), ['two', 'three', 'four']);
    });

    it(`the event reader of the client for ${language.name} reports a gap, and continues with the events that still exist (§4.5/gap)`, async () => {
      const reading = await service.newTeam();
      const { wire } = await connectNumber(service, reading);
      const lost = publicId('evt', firstIdAt(0) as EventId);
      writeFileSync(join(folder, 'gap'), `${lost}\n`);
      proxy.interrupt();
      const reader = startCommand('read', ['gap', '2'], reading);
      await until('the reader waits', () => proxy.requests.length === 1);
      for (const text of ['one', 'two']) await wire.call('inbound', { from: '+14155550101', text });
      assert.deepEqual(linesOf(await reader.ended), [`gap after ${lost}`, 'one', 'two']);
    });

    it(`the event reader of the example for ${language.name} prints a gap in the events (§4.5/gap)`, async () => {
      const reading = await service.newTeam();
      const { wire } = await connectNumber(service, reading);
      await wire.call('inbound', { from: '+14155550101', text: 'left' });
      const lost = publicId('evt', firstIdAt(0) as EventId);
      const page = await PageBlocks.read(language.readme);
      const name = `events.${language.ending}`;
      writeFileSync(join(folder, name), page.one(`${language.block} ${name}`));
      writeFileSync(join(folder, 'events.cursor'), `${lost}\n`);
      const env = { OWNLINE_URL: service.baseUrl, OWNLINE_API_KEY: reading.api.key };
      const reader = startProgram(language, { folder, name: 'events', args: [], env });
      await until('the reader prints the event', () => /left/.test(reader.output()));
      assert.equal(reader.output(), `events after ${lost} may be missing\n+14155550101: left\n`);
      reader.child.kill('SIGTERM');
      await reader.ended;
      rmSync(join(folder, 'events.cursor'));
    });

    describe('verification of deliveries', () => {
      const receiver = given(() => startWebhookReceiver());

      /** Verifies with the client. @returns the value that the program printed */
      const verify = async (
        delivery: { readonly headers: object; readonly body: Buffer },
        secret: string,
        signature: 'standard' | 'service',
      ) => {
        const input = { ...delivery, body: delivery.body.toString('base64'), secret, signature };
        return (await run('verify', [], JSON.stringify(input)))[0];
      };

      it(`the client for ${language.name} accepts both signatures of a delivery, of both secrets during a rotation, and refuses all others`, async () => {
        const { json: webhook } = await team.api.post('/v1/webhooks', {
          url: receiver.url,
          events: ['message.sent'],
        });
        const { json: rotated } = await team.api.post(`/v1/webhooks/${webhook.id}/rotate-secret`);
        await team.api.post(`/v1/webhooks/${webhook.id}/test`);
        const [delivery] = await receiver.count(1);
        assert.ok(delivery);
        const { sent_at } = JSON.parse(delivery.body.toString()).data as { readonly sent_at: string };
        const secrets = [String(webhook.secret), String(rotated.secret)] as const;
        assert.notEqual(...secrets);
        for (const signature of ['standard', 'service'] as const) {
          for (const secret of secrets) assert.equal(await verify(delivery, secret, signature), sent_at);
          const invalid = `The ${signature} signature is missing or not valid.`;
          const forged: Buffer = Buffer.from(
            delivery.body.toString().replace('message.sent', 'message.read'),
          );
          const other = `whsec_${Buffer.alloc(32).toString('base64')}`;
          assert.equal(await verify({ ...delivery, body: forged }, secrets[0], signature), invalid);
          assert.equal(await verify(delivery, other, signature), invalid);
          assert.equal(await verify({ ...delivery, headers: {} }, secrets[0], signature), invalid);
        }
        const renamed = Object.fromEntries(
          Object.entries(delivery.headers).map(([name, value]) => [name.toUpperCase(), value]),
        );
        assert.equal(await verify({ ...delivery, headers: renamed }, secrets[0], 'standard'), sent_at);
        assert.equal(
          await verify(
            { ...delivery, headers: { ...delivery.headers, 'webhook-signature': 'v1,\udcff' } },
            secrets[0],
            'standard',
          ),
          'The standard signature is missing or not valid.',
        );
        const now = Math.floor(Date.now() / 1_000);
        const wide = `${now}`.replaceAll(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
        const { body } = delivery;
        const verifyTime = (time: string) =>
          verify(
            { headers: signedHeaders(secrets[0], 'evt_signed', 'message.sent', body, time), body },
            secrets[0],
            'standard',
          );
        assert.equal(
          await verifyTime(`${now - 301}`),
          'The time of the delivery is too far from the own clock.',
        );
        for (const time of ['', 'soon', ` ${now}`, `+${now}`, `${now}.0`, wide])
          assert.equal(await verifyTime(time), 'The time of the delivery is not a number of seconds.', time);
      });

      it(`the client for ${language.name} accepts no signature if the secret is empty or is no webhook secret`, async () => {
        const body = Buffer.from('{"id":"evt_forged","type":"number.online","data":{}}');
        const time = String(Math.floor(Date.now() / 1_000));
        const unpadded = `whsec_${Buffer.alloc(32).toString('base64').replace('=', '')}`;
        for (const secret of ['', 'whsec_', 'whsec_AA==', unpadded]) {
          const headers = signedHeaders(secret, 'evt_signed', 'message.sent', body, time);
          for (const signature of ['standard', 'service'] as const)
            await assert.rejects(verify({ headers, body }, secret, signature), /The secret must be/, secret);
        }
      });
    });

    describe(`the examples of ${language.readme}`, () => {
      const customer = given(() => service.newTeam());
      let port: number;
      let phone: DeviceWire;

      before(async () => {
        port = await freePort();
        phone = (await connectNumber(service, customer, number)).wire;
        const page = await PageBlocks.read(language.readme);
        for (const name of examples) {
          const file = `${name}.${language.ending}`;
          const text = page.one(`${language.block} ${file}`).replace('4000', String(port));
          writeFileSync(join(folder, file), name === 'errors' ? text.replace(number, freeNumber) : text);
        }
      });

      const start = (
        name: string,
        more: Readonly<Record<string, string>> = {},
        args: readonly string[] = [],
      ) =>
        startProgram(language, {
          folder,
          name,
          args,
          env: { OWNLINE_URL: service.baseUrl, OWNLINE_API_KEY: customer.api.key, ...more },
        });
      const outputOf = async (name: string, more: Readonly<Record<string, string>> = {}) =>
        (await start(name, more).ended).trim();

      it(`a program against the client for ${language.name} and the examples type-check strictly`, async (t) => {
        const missing = language.whyNotChecked();
        if (missing !== undefined) return t.skip(missing);
        await language.check(folder);
      });

      it(`the examples of the client for ${language.name} send a message, follow it, and read the reply and the events`, async () => {
        const [, id = ''] = /^(msg_\w+) queued$/.exec(await outputOf('send')) ?? [];
        assert.notEqual(id, '');
        const following = start('follow', {}, [id]);
        assert.equal((await phone.poll()).id, id);
        await phone.poll({ last: id });
        assert.equal((await following.ended).trim(), 'sent');
        await phone.call('status', { id, status: 'delivered' });
        await phone.call('inbound', { from: '+14155550101', text: 'Yes, see you then' });
        assert.equal(await outputOf('replies'), '+14155550101 Yes, see you then');
        const events = start('events');
        await until('the reader prints both events', () => {
          const printed = events.output();
          return (
            printed.includes(`${id} was delivered\n`) && printed.includes('+14155550101: Yes, see you then\n')
          );
        });
        events.child.kill('SIGTERM');
        await events.ended;
      });

      it(`the examples for ${language.name} read only events from now on, and end at SIGTERM`, async () => {
        const reading = await service.newTeam();
        const { wire } = await connectNumber(service, reading);
        const receive = (text: string) => wire.call('inbound', { from: '+14155550101', text });
        const env = { OWNLINE_URL: proxy.url, OWNLINE_API_KEY: reading.api.key };
        for (let text = 1; text <= 51; text += 1) await receive(`Before ${text}`);
        await until('all texts are in the feed', async () => {
          const { json } = await reading.api.get('/v1/events?limit=100');
          return (json.events as readonly unknown[]).length === 51;
        });
        rmSync(join(folder, 'events.cursor'), { force: true });
        proxy.interrupt();
        await outputOf('begin', env);
        assert.equal(proxy.requests.length, 2);
        for (const stop of ['first', 'second']) {
          await receive(`Before the ${stop} stop`);
          proxy.interrupt();
          const reader = start('stop', env);
          await until('the reader waits for a second event', () => proxy.requests.length === 2);
          reader.child.kill('SIGTERM');
          // The reader for Python notices the signal once its request ends.
          proxy.cut();
          assert.match(await reader.ended, /^message\.received evt_\w+\nstopped\n$/, stop);
        }
      });

      it(`the event reader of the example for ${language.name} ends at SIGTERM while the server fails`, async () => {
        proxy.interrupt('error_page', 'maintenance');
        const reader = start('stop', { OWNLINE_URL: proxy.url });
        await until('the reader repeats its request', () => proxy.requests.length === 2);
        reader.child.kill('SIGTERM');
        assert.equal(await reader.ended, 'stopped\n');
        assert.equal(proxy.requests.length, 2);
      });

      it(`the example for ${language.name} creates a webhook and prints its secret`, async () => {
        const owner = await service.newTeam();
        const [id = '', secret] = (await outputOf('webhook', { OWNLINE_API_KEY: owner.api.key })).split(' ');
        assert.match(secret ?? '', /^whsec_/);
        assert.match(
          (await owner.api.get(`/v1/webhooks/${id}`)).text,
          /"message\.received","message\.failed"/,
        );
      });

      it(`the client for ${language.name} tries a request twice if it has the settings of the example`, async () => {
        proxy.interrupt();
        assert.equal(await outputOf('settings', { OWNLINE_URL: proxy.url }), '1');
        proxy.interrupt('error_page', 'error_page');
        await assert.rejects(outputOf('settings', { OWNLINE_URL: proxy.url }), /502/);
        assert.equal(proxy.requests.length, 2);
      });

      it(`the webhook receiver of the client for ${language.name} accepts a delivery and refuses another request`, async () => {
        const url = `http://127.0.0.1:${port}/`;
        const { json: webhook } = await customer.api.post('/v1/webhooks', {
          url,
          events: ['message.received'],
        });
        const receiver = start('receiver', { OWNLINE_WEBHOOK_SECRET: String(webhook.secret) });
        const refused = await until('the receiver answers', () =>
          fetch(url, { method: 'POST', body: '{"id":"evt_forged"}' }).then(
            ({ status }) => status,
            () => undefined,
          ),
        );
        assert.equal(refused, 401);
        await until('the receiver prints the reason', () =>
          /The standard signature is missing or not valid\.$/m.test(receiver.complaints()),
        );
        assert.doesNotMatch(receiver.complaints(), /^ +at |^Traceback/m);
        await assert.rejects(
          start('receiver', { OWNLINE_WEBHOOK_SECRET: String(webhook.secret) }).ended,
          /^Error: receiver\.\w+ ended with 1:\nThe receiver cannot listen: .*address already in use.*\n$/i,
        );
        await customer.api.post(`/v1/webhooks/${webhook.id}/test`);
        await until('the receiver prints the event', () =>
          /^message\.received evt_/m.test(receiver.output()),
        );
        assert.doesNotMatch(receiver.output(), /evt_forged/);
        receiver.child.kill('SIGTERM');
        await receiver.ended;
      });

      it(`the webhook receiver of the client for ${language.name} prints why it cannot verify a delivery with a mistyped secret`, async () => {
        const receiver = start('receiver', { OWNLINE_WEBHOOK_SECRET: 'whsec_mistyped' });
        await until('the receiver prints the reason', async () => {
          await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).catch(() => undefined);
          return receiver.complaints().includes('The secret must be that of a webhook');
        });
        receiver.child.kill('SIGTERM');
        await receiver.ended;
      });

      it(`the example of error handling for ${language.name} names the plan’s limit, and the reason of other refusals`, async () => {
        assert.match(await outputOf('errors'), /^invalid_request: .+ \(from, request .+\)$/);
        const free = await service.newTeam({ plan: 'free' });
        await connectNumber(service, free, freeNumber);
        await putAccepted(service, free.id, 100);
        const refused = await outputOf('errors', { OWNLINE_API_KEY: free.api.key });
        assert.match(refused, /^The plan ends here: http/);
      });

      it(`the example of error handling for ${language.name} repeats a send with its Idempotency-Key, so that it is accepted once`, async () => {
        proxy.interrupt('lost_answer');
        const [failure = '', id] = (await outputOf('repeat', { OWNLINE_URL: proxy.url })).split('\n');
        assert.match(
          failure,
          /gave no answer, but the server may have accepted the request: .+ key [0-9a-f-]{36}\.$/,
        );
        const { json } = await customer.api.get('/v1/messages?direction=outbound');
        const repeated = (
          json.messages as readonly { readonly id: string; readonly content: string }[]
        ).filter(({ content }) => content === 'See you on Tuesday');
        assertEach(repeated, (message) => message.id, [id]);
      });

      it(`the example of other operations for ${language.name} opts a contact out and lists it`, async () => {
        assert.equal(await outputOf('operations'), '+14155550177 1');
      });
    });
  });
