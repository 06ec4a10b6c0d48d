import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { inboundPerMinute, statusesPerMinute } from '#server/device-protocol/limits.ts';
import { fileBodyMinBytes, largeDeviceBodiesMax } from '#server/devices/device-authenticator.ts';
import { rawRequest } from '#test/support/http/raw-http.ts';
import { claim, connectNumber, DeviceWire, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

/** Request line and headers of a device call, for a raw connection. */
const deviceCallHead = (path: string, token: string, bytes: number, further = '') =>
  `POST /v1/device/${path} HTTP/1.1\r\nHost: a\r\nx-device-token: ${token}\r\nContent-Length: ${bytes}\r\n${further}\r\n`;

interface PartialUpload {
  readonly socket: Socket;
  /** Body of the answer; '' before it has arrived. */
  answer(): string;
  /** Writes the missing bytes. */
  finish(): void;
}

/**
 * Sends an inbound message without the last bytes of its body, on a new connection. By default the body has the
 * largest size without a file. Resolves once the server has read the headers, so uploads have a known order.
 * Connections are not always accepted in the order in which they were opened (decision 0024).
 */
async function startUpload(
  baseUrl: string,
  token: string,
  missingBytes = 1,
  bytes = fileBodyMinBytes,
): Promise<PartialUpload> {
  const field = bytes > fileBodyMinBytes ? '"text":"","media_type":"image/jpeg","media"' : '"text"';
  const body = Buffer.from(`{"from":"+12125550100",${field}:"`.padEnd(bytes - 2, 'x').concat('"}'));
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(deviceCallHead('inbound', token, body.length, 'Expect: 100-continue\r\n'));
  const [begun] = await once(socket, 'data');
  assert.equal(String(begun), 'HTTP/1.1 100 Continue\r\n\r\n');
  let text = '';
  socket.on('data', (part) => {
    text += part.toString();
  });
  socket.on('error', () => undefined);
  socket.write(body.subarray(0, body.length - missingBytes));
  return {
    socket,
    answer: () => text.split('\r\n\r\n')[1] ?? '',
    finish: () => void socket.write(body.subarray(body.length - missingBytes)),
  };
}

/** Writes the head of a chunked device call and one chunk, but not the end of the body. */
const chunkedCall = (path: string, token: string, bytes: number) =>
  [
    `POST /v1/device/${path} HTTP/1.1`,
    'Host: a',
    `x-device-token: ${token}`,
    'Transfer-Encoding: chunked',
    '',
    bytes.toString(16),
    'x'.repeat(bytes),
    '',
  ].join('\r\n');

describe('bodies of a known device token (specification sections 11.1 and 11.7)', () => {
  const { service, team } = givenTeam({ RATE_LIMITS: 'on' });

  it('a device token has at most four large bodies read at a time, and small requests are not delayed', async () => {
    nextMinute(service.clock);
    const { wire } = await connectNumber(service, team);
    const uploads = await Promise.all(
      Array.from({ length: largeDeviceBodiesMax }, () => startUpload(service.baseUrl, wire.token)),
    );
    const late = await startUpload(service.baseUrl, wire.token, 0);
    for (let n = 0; n < 20; n += 1)
      assert.equal((await wire.call('inbound', { from: '+12125550100', text: `small ${n}` })).ok, '1');
    assert.equal(late.answer(), '', 'waits');
    uploads[0]?.finish();
    await until('the fifth is taken', () => late.answer().includes('"ok":"1"'));
    // An upload whose connection breaks must also free its permit.
    const next = await startUpload(service.baseUrl, wire.token, 0);
    uploads[1]?.socket.destroy();
    await until('the next is taken', () => next.answer().includes('"ok":"1"'));
    for (const { socket } of [...uploads, late, next]) socket.destroy();
  });

  it('a team has at most two bodies with a file read at a time, and a process six', async () => {
    nextMinute(service.clock);
    const teams = await Promise.all(Array.from({ length: 4 }, () => service.newTeam()));
    const start = async (of: TestTeam, missingBytes: number) => {
      const { wire } = await connectNumber(service, of);
      return startUpload(service.baseUrl, wire.token, missingBytes, fileBodyMinBytes + 1);
    };
    const [first, second, third, fourth] = teams as [TestTeam, TestTeam, TestTeam, TestTeam];
    const held = [await start(first, 1), await start(first, 1)];
    const ofTeam = await start(first, 0);
    const other = await start(second, 0);
    await until("another team's is taken", () => other.answer().includes('"ok":"1"'));
    assert.equal(ofTeam.answer(), '', 'waits for its team');
    for (const team of [second, second, third, third]) held.push(await start(team, 1));
    const ofProcess = await start(fourth, 0);
    const { wire } = await connectNumber(service, fourth);
    assert.equal((await wire.call('inbound', { from: '+12125550100', text: 'small' })).ok, '1');
    assert.equal(ofProcess.answer(), '', 'waits for the process');
    held[4]?.finish();
    await until('it is taken', () => ofProcess.answer().includes('"ok":"1"'));
    held[0]?.finish();
    await until('that of the first team is taken', () => ofTeam.answer().includes('"ok":"1"'));
    for (const { socket } of [...held, ofTeam, other, ofProcess]) socket.destroy();
  });

  for (const [path, perMinute] of [
    ['inbound', inboundPerMinute],
    ['status', statusesPerMinute],
  ] as const) {
    it(`a call to ${path} beyond the limit of ${perMinute} a minute is answered before its body is read`, async () => {
      const { wire } = await connectNumber(service, team);
      nextMinute(service.clock);
      const calls = Array.from({ length: perMinute }, () => wire.call(path, 'unreadable'));
      for (const answer of await Promise.all(calls)) assert.equal(answer.reason, 'unreadable');
      const { hostname, port } = new URL(service.baseUrl);
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (part) => {
        text += part.toString();
      });
      const refusal = '{"ok":"0","reason":"rate_limited"}';
      // A body of up to 64 KB is read and discarded, and the connection stays open.
      const small = deviceCallHead(path, wire.token, 64 * 1_024);
      socket.write(Buffer.concat([Buffer.from(small), Buffer.alloc(64 * 1_024, 'x')]));
      await until('it is answered', () => text.includes(refusal));
      text = '';
      // A larger body is not read, and the connection is closed.
      const closed = once(socket, 'close');
      socket.on('error', () => undefined);
      socket.write(deviceCallHead(path, wire.token, 100_000));
      await until('the next is answered', () => text.includes(refusal));
      assert.match(text, /^connection: close\r$/im);
      await closed;
      // A chunked body is refused once more than 64 KB of it have arrived.
      const chunked = await rawRequest(service.baseUrl, chunkedCall(path, wire.token, 64 * 1_024 + 1));
      assert.deepEqual([chunked.status, chunked.body], [200, refusal]);
      assert.equal(chunked.headers.get('connection'), 'close');
    });
  }

  it('an inbound message for a deleted number is answered before its body is read, on each process', async (t) => {
    nextMinute(service.clock);
    const { wire, numberId } = await connectNumber(service, team);
    assert.equal((await wire.call('inbound', { from: '+12125550100', text: 'before' })).ok, '1');
    assert.equal((await team.api.delete(`/v1/numbers/${numberId}`)).status, 200);
    const deleted = { ok: '0', reason: 'deleted' };
    assert.deepEqual(await wire.call('inbound', { from: '+12125550100', text: 'after' }), deleted);
    const another = await service.startAnother();
    t.after(() => another.close());
    for (const { baseUrl } of [service, another]) {
      const raw = await rawRequest(baseUrl, deviceCallHead('inbound', wire.token, 1_000_000));
      assert.deepEqual([raw.status, JSON.parse(raw.body)], [200, deleted]);
      assert.equal(raw.headers.get('connection'), 'close');
      const poll = await new DeviceWire(baseUrl, wire.token).call('poll', { session: wire.session });
      assert.deepEqual(poll, { action: 'stop', session: 'none', reason: 'deleted' });
    }
  });

  it('an inbound message with a token that a later setup link replaced is answered before its body is read', async () => {
    const phone = newPhoneNumber();
    const verify = () => team.api.post('/v1/numbers/verify', { phone_number: phone });
    const { token } = await claim(team.api, String((await verify()).json.setup_url));
    assert.equal((await verify()).status, 200);
    const raw = await rawRequest(service.baseUrl, deviceCallHead('inbound', token, 1_000_000));
    assert.deepEqual(JSON.parse(raw.body), { ok: '0', reason: 'superseded' });
    assert.equal(raw.headers.get('connection'), 'close');
  });
});
