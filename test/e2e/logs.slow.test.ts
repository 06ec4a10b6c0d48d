import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newApiKey } from '#server/api-keys/api-keys.ts';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { connectToDatabase } from '#test/support/database/database-connection.ts';
import { refuseMessages } from '#test/support/database/table-faults.ts';
import { rawExchange } from '#test/support/http/raw-http.ts';
import { png } from '#test/support/media/sample-files.ts';
import { claim, type DeviceWire } from '#test/support/phones/test-phone.ts';
import { firstKey, firstLink, spawnService } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const from = '+14155550100';
const to = '+14155550101';

/** Part of every text and name that is sent. The log must not contain it. */
const mark = 'canary5c1e';

describe('the log at LOG_LEVEL=trace', () => {
  let wire: DeviceWire;
  const dataDir = givenFolder('ownline-logs-');
  const service = given(
    () =>
      spawnService({
        settings: { DATA_DIR: dataDir, LOG_LEVEL: 'trace', DEVICE_HOLD_SECONDS: '1' },
      }),
    (service) => service.kill('SIGKILL'),
  );
  const api = given(async () => new ApiClient(service.baseUrl, keep(await firstKey(dataDir))));
  /** Keys and tokens that the test used, whether the server accepted them or not. */
  const secrets: string[] = [];
  const keep = <T extends string>(secret: T): T => {
    secrets.push(secret);
    return secret;
  };
  const tokenOf = (setupUrl: unknown) => keep(String(setupUrl).split('/').at(-1) ?? '');
  const call = (path: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${service.baseUrl}${path}`, {
      method: 'POST',
      body,
      headers: { origin: service.baseUrl, ...headers },
    });
  /** The server may close the connection before it has read a long body, so the client may get no answer. */
  const callAtLength: typeof call = (...args) => call(...args).catch(() => Response.error());

  it('the log covers the setup of a number, a sent message and a received message', async () => {
    const verify = await api.post('/v1/numbers/verify', { phone_number: from });
    const setup = `/setup/${tokenOf(verify.json.setup_url)}`;
    wire = await claim(api, String(verify.json.setup_url));
    keep(wire.token);
    assert.match(await (await fetch(`${service.baseUrl}${setup}`)).text(), /iPhone/);
    const json = { 'content-type': 'application/json' };
    assert.ok((await (await call(`${setup}/claim`, '{"form":27}', json)).text()).includes(wire.token));
    assert.equal((await wire.poll()).action, 'idle');
    const headers = { 'idempotency-key': `key-${mark}` };
    const message = { from, to, content: `Outbound ${mark}` };
    const sent = await api.post('/v1/messages/send', message, headers);
    assert.equal(sent.status, 202, sent.text);
    assert.equal((await api.post('/v1/messages/send', message, headers)).status, 202);
    const handedOut = await wire.poll();
    assert.equal(handedOut.text, message.content);
    const last = { last: handedOut.id ?? '', last_status: 'failed', last_error: `could not: ${mark}` };
    assert.equal((await wire.poll(last)).action, 'idle');
    assert.equal((await wire.call('inbound', { from: to, text: `Inbound ${mark}` })).ok, '1');
    const media = { media: png.toString('base64'), media_name: mark };
    const picture = await wire.call('inbound', { from: to, text: `Picture ${mark}`, ...media });
    assert.equal(picture.media, 'stored');
    const link = String((await api.get(`/v1/messages/${picture.id}`)).json.media_url);
    keep(link.split('/').at(-2) ?? '');
    assert.equal((await fetch(link)).status, 200);
    assert.equal((await fetch(link.replace('.png', '.gif'))).status, 404);
    const withMedia = { from, to, content: mark, media_url: `https://receiver.invalid/${mark}.png` };
    const waiting = await api.post('/v1/messages/send', withMedia);
    assert.equal(waiting.status, 202, waiting.text);
    await api.post(`/v1/messages/${waiting.json.id}/cancel`);
    await wire.call('status', { id: handedOut.id, status: 'delivered', error: mark });
    await api.put(`/v1/numbers/${(await numberIds())[0]}`, { label: `Label ${mark}` });
    assert.equal((await call(`${setup}/done`, '')).status, 200);
    const again = await api.request('POST', `/v1/numbers/${(await numberIds())[0]}/reconnect`);
    tokenOf(again.json.setup_url);
  });

  async function numberIds(): Promise<string[]> {
    const { json } = await api.get('/v1/numbers');
    return Array.isArray(json.numbers) ? json.numbers.map(({ id }) => String(id)) : [];
  }

  it('the log covers a webhook, its test and the rotation of its secret', async () => {
    const url = `https://receiver.invalid/${mark}`;
    const made = await api.post('/v1/webhooks', { url, events: ['message.sent'] });
    assert.equal(made.status, 201, made.text);
    const path = `/v1/webhooks/${made.json.id}`;
    const next = await api.post(`${path}/rotate-secret`);
    for (const { json } of [made, next]) keep(String(json.secret).slice('whsec_'.length));
    assert.equal((await api.post(`${path}/test`)).status, 202);
    assert.equal((await api.post(`${path}/rotate-secret/finish`)).status, 200);
    assert.equal((await api.put(path, { url: `http://${mark}/` })).status, 400);
    assert.equal((await api.put(path, { active: false })).status, 200);
  });

  it('the log covers an invitation, a wrong and a right acceptance, and a member who leaves the team', async () => {
    const owner = new Browser(service.baseUrl);
    const ofOwner = `/invite/${tokenOf(await firstLink(dataDir))}`;
    assert.equal((await owner.submit(ofOwner, { email: 'owner@example.com', name: mark })).status, 303);
    keep(owner.token);
    const path = `/app/teams/${(await api.get('/v1/team')).json.id}/team`;
    const email = `${mark}@example.com`;
    const made = await owner.post(`${path}/members/invite`, { email, role: 'member' });
    const link = `/invite/${tokenOf(made.json.accept_url)}`;
    const guest = new Browser(service.baseUrl);
    assert.ok((await guest.open(link)).text.includes(mark));
    assert.equal((await guest.submit(link, { name: mark, password: 'short' })).status, 400);
    const secret = keep('correct horse battery');
    assert.equal((await guest.submit(link, { name: mark, password: secret })).status, 303);
    keep(guest.token);
    assert.equal((await guest.submit(link, { name: mark })).status, 404);
    assert.equal((await guest.put(path, { name: mark })).status, 403);
    assert.equal((await guest.post(`${path}/leave`)).status, 200);
    assert.equal((await guest.get(path)).status, 401);
  });

  it('the log covers refused keys, tokens and requests of all kinds', async () => {
    const wrongKeys = [
      keep(newApiKey('a1b2')),
      keep(`${api.key}0`),
      keep(newApiKey('a1b2').replace('live', 'test')),
      `Bearer ${mark}`,
    ];
    for (const key of wrongKeys) {
      assert.equal((await new ApiClient(service.baseUrl, key).get('/v1/team')).status, 401);
    }
    const json = { 'x-api-key': api.key, 'content-type': 'application/json' };
    const bodies = [
      `{"content":"${mark}"`,
      `${mark}`,
      `{"content":"${mark}\\u0000"}`,
      `{"${mark}":1}`,
      `{"from":"${mark}","to":["${mark}"],"content":{"${mark}":1}}`,
      `{"from":"${from}","to":"${to}","content":"${mark}","media_url":"http://example.com/${mark}.png"}`,
    ];
    for (const body of bodies) assert.ok((await call('/v1/messages/send', body, json)).status >= 400);
    await callAtLength('/v1/messages/send', `{"content":"${mark.repeat(50_000)}"}`, json);
    const paths = [
      `/${mark}`,
      `/v1/messages/${mark}`,
      `/v1/messages/%${mark}`,
      `/v1/messages?cursor=${mark}&${mark}=1`,
    ];
    for (const path of paths) assert.ok((await api.get(path)).status >= 400);
    await call('/v1/messages/send', '{}', { ...json, 'idempotency-key': `${mark} ${mark}` });
    for (const body of [`{"token":"${keep('x'.repeat(43))}"}`, `{"token":"${mark}"`, mark]) {
      assert.ok((await call('/v1/device/claim', body)).status >= 400);
    }
    for (const path of ['poll', 'inbound', 'status']) {
      for (const body of [mark, `{"text":"${mark}"}`, `{"text":"${mark.repeat(1_000_000)}"}`]) {
        await callAtLength(`/v1/device/${path}`, body, { 'x-device-token': keep(`dev_${'y'.repeat(47)}`) });
      }
    }
    for (const text of [
      `${mark}\r\n\r\n`,
      `GET /${mark} ${mark}\r\n\r\n`,
      `CONNECT ${mark}:1 HTTP/1.1\r\nHost: ${mark}\r\n\r\n`,
    ]) {
      assert.ok((await rawExchange(service.baseUrl, text)).every(({ status }) => status >= 400));
    }
  });

  it('the log covers refused passwords, links, cookies and passkeys', async () => {
    const json = { 'content-type': 'application/json' };
    const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
    const email = `${mark}@example.com`;
    const token = keep('z'.repeat(43));
    const response = { id: mark, rawId: mark, type: 'public-key', response: { signature: mark } };
    const statuses = await Promise.all(
      [
        call('/app/sign-in/passkey', JSON.stringify({ response }), json),
        call('/sign-in', new URLSearchParams({ email, password: mark, by: 'password' }).toString(), form),
        call('/sign-in', new URLSearchParams({ email, by: 'link' }).toString(), form),
        call(`/link/${token}?next=/${mark}`, '', form),
        call('/app/account/sign-out', '', { cookie: `ownline=${token}` }),
      ].map(async (answer) => (await answer).status),
    );
    assert.deepEqual(statuses, [400, 401, 400, 404, 401]);
  });

  it('the log line of a refused request has the request-id of its answer and the id of the team', async () => {
    const [team, refused] = [await api.get('/v1/team'), await api.get('/v1/messages/msg_0')];
    const requestId = refused.headers.get('request-id') ?? '';
    const line = await until(
      'it is logged',
      () => service.log().match(new RegExp(`^.*${requestId}.*$`, 'm'))?.[0],
    );
    assert.deepEqual(
      { ...JSON.parse(line), time: '', ms: 0 },
      {
        level: 'info',
        time: '',
        requestId,
        method: 'GET',
        route: '/v1/messages/:id',
        status: 404,
        code: 'not_found',
        ms: 0,
        team: team.json.id,
        msg: 'answered',
      },
    );
  });

  it('the log covers rows that PostgreSQL refuses with an error message that quotes their values', async () => {
    const connection = await connectToDatabase(await findEngineUrl(dataDir));
    const refusal = await refuseMessages(connection);
    const answer = await api.post(
      '/v1/messages/send',
      { from, to, content: `Refused ${mark}` },
      { 'idempotency-key': mark },
    );
    assert.equal(answer.status, 500, answer.text);
    assert.equal((await wire.call('inbound', { from: to, text: `Refused ${mark}` })).ok, '0');
    await refusal.end();
    await connection.close();
  });

  it('the log covers a kill and restart of PostgreSQL under load', async () => {
    const send = (n: number) =>
      api.post(
        '/v1/messages/send',
        { from, to, content: `Load ${mark}` },
        { 'idempotency-key': `${mark}-${n}` },
      );
    const isDone = { value: false };
    const load = Array.from({ length: 4 }, async (_, n) => {
      while (!isDone.value) {
        await Promise.all([
          send(n),
          wire.poll(),
          wire.call('inbound', { from: to, text: mark }),
          call('/v1/device/claim', '{"token":"x"}'),
        ]);
      }
    });
    const pid = Number((await readFile(join(dataDir, 'pg', 'postmaster.pid'), 'utf8')).split('\n')[0]);
    process.kill(pid, 'SIGKILL');
    await until('the end of PostgreSQL is logged', () => service.log().includes('PostgreSQL has ended'));
    await until('messages are accepted again', async () => (await send(9)).status === 202);
    await until('the restart is logged', () => service.log().includes('PostgreSQL runs again'));
    isDone.value = true;
    await Promise.all(load);
    assert.equal(await service.kill('SIGTERM'), 0, service.output());
  });

  it('every log line is JSON with the level as a word, an ISO time and msg', () => {
    const lines = service.log().trimEnd().split('\n');
    const messages = new Set<string>();
    for (const line of lines) {
      const { level, time, msg } = JSON.parse(line);
      assert.match(level, /^(trace|debug|info|warn|error)$/, line);
      assert.equal(new Date(time).toISOString(), time, line);
      assert.equal(typeof msg, 'string', line);
      messages.add(msg);
    }
    // Asserts that the log contains each expected message.
    for (const msg of ['answered', 'PostgreSQL runs again']) {
      assert.ok(messages.has(msg), `${msg} is not among ${[...messages].join('; ')}`);
    }
    assert.ok(service.log().includes('"/setup/:token/done"') && service.log().includes('refuses_all'));
  });

  it('neither the service’s log nor PostgreSQL’s has a key, a token or a sent text', async () => {
    const postgres = await readFile(join(dataDir, 'postgres.log'), 'utf8');
    assert.ok(postgres.includes('refuses_all'), 'the log of PostgreSQL is where it was looked for');
    assert.ok(new Set(secrets).size >= 9 && secrets.every((secret) => secret.length > 20), secrets.join());
    for (const [name, text] of [
      ['the output', service.output()],
      ['postgres.log', postgres],
    ] as const) {
      for (const secret of [mark, ...secrets]) {
        const at = text.indexOf(secret);
        assert.equal(at, -1, `${name} has ${secret}: ${text.slice(Math.max(0, at - 300), at + 300)}`);
      }
    }
  });
});
