import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { parseByteRange } from '#server/http/stream-answer.ts';
import { fetchAsPhone, rawRequest, slowDownload } from '#test/support/media/device-download.ts';
import { answerOf } from '#test/support/media/media-host.ts';
import { startMediaWorld } from '#test/support/media/media-team.ts';
import { jpegOf, png } from '#test/support/media/sample-files.ts';
import { claim, connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';

describe('GET /v1/device/media/:id/:filename (specification section 11.10)', () => {
  let id: string;
  let path: string;
  const world = given(() => startMediaWorld({ RATE_LIMITS: 'on' }));

  before(async () => {
    world.host.set('/menu.png', answerOf(200, png));
    id = await world.send('/menu.png');
    await world.settled(id);
    const poll = await world.number.wire.poll();
    path = String(poll.media);
    assert.equal(poll.id, id);
  });

  it('the phone downloads the file of its message in flight any number of times, without a redirect', async () => {
    for (let asked = 0; asked < 2; asked += 1) {
      const file = await fetchAsPhone(world.number.wire, path);
      assert.deepEqual([file?.status, file?.type, file?.length], [200, 'image/png', png.length]);
      assert.ok(file?.bytes.equals(png));
    }
  });

  it('a wrong token, another device, message or name ends the connection without an answer', async () => {
    const other = await connectNumber(world.service, world.team);
    const stranger = await connectNumber(world.service, await world.service.newTeam());
    const { wire } = world.number;
    const waiting = await world.send('/menu.png', { to: '+14155550102' });
    await world.settled(waiting);
    for (const [what, caller, asked] of [
      ['no known token', { baseUrl: wire.baseUrl, token: 'dev_unknown' }, path],
      ['another device of the team', other.wire, path],
      ["another team's device", stranger.wire, path],
      ['a message that is not in flight', wire, path.replace(id, waiting)],
      ['no id', wire, path.replace(id, 'msg_x')],
      ['another name', wire, path.replace('menu.png', 'menu.jpg')],
    ] as const) {
      assert.equal(await rawRequest(caller, asked), '', what);
    }
    assert.equal((await fetchAsPhone(wire, path))?.status, 200);
  });

  it('a download past the token’s limit ends the connection, and works in the next minute', async () => {
    const { wire } = world.number;
    let served = 0;
    while ((await fetchAsPhone(wire, path)) && served < 200) served += 1;
    assert.ok(served > 50 && served < 200, `${served} served`);
    assert.equal(await rawRequest(wire, path), '');
    world.service.clock.advance(61_000);
    assert.equal((await fetchAsPhone(wire, path))?.status, 200);
  });

  it('a new device of the number does not get the file of a message in flight at the old device', async () => {
    const phone = await connectNumber(world.service, world.team);
    const inFlight = await world.send('/menu.png', { from: phone.phoneNumber, to: '+14155550104' });
    await world.settled(inFlight);
    const asked = String((await phone.wire.poll()).media);
    const reconnected = await world.team.api.post(`/v1/numbers/${phone.numberId}/reconnect`);
    const successor = await claim(world.team.api, String(reconnected.json.setup_url));
    assert.equal(await rawRequest(successor, asked), '', 'before its first poll');
    assert.equal((await fetchAsPhone(phone.wire, asked))?.status, 200);
    await successor.poll();
    assert.equal(await rawRequest(successor, asked), '', 'after its first poll');
    assert.equal((await fetchAsPhone(phone.wire, asked))?.status, 200);
  });

  it('the file is not served after its message was reported', async () => {
    await world.number.wire.poll({ last: id });
    assert.equal(await rawRequest(world.number.wire, path), '');
  });

  it('a phone that reads slowly delays no other call of its team (§8/team-concurrency)', async () => {
    const bytes = jpegOf(5_000_000);
    world.host.set('/large.jpg', answerOf(200, bytes));
    const phone = await connectNumber(world.service, world.team);
    const large = await world.send('/large.jpg', { from: phone.phoneNumber, to: '+14155550103' });
    await world.settled(large);
    const poll = await phone.wire.poll();
    const slow = await Promise.all([1, 2].map(() => slowDownload(phone.wire, String(poll.media))));
    for (let call = 0; call < 10; call += 1)
      assert.equal((await world.team.api.get('/v1/numbers')).status, 200);
    for (const reader of slow) reader.destroy();
    const file = await fetchAsPhone(phone.wire, String(poll.media));
    assert.ok(file?.bytes.equals(bytes));
  });
});

const bytes = jpegOf(600_000);

describe('GET /media/:id/:token/:name (§2.8/media-links)', () => {
  let url: string;
  const world = given(startMediaWorld);

  before(async () => {
    url = await receive(bytes);
  });

  async function receive(file: Buffer, name = 'menu'): Promise<string> {
    const body = { from: '+14155550199', text: name, media: file.toString('base64'), media_name: name };
    const answer = await world.number.wire.call('inbound', body);
    return String((await world.get(String(answer.id))).media_url);
  }
  const ask = async (headers: Record<string, string> = {}, address = url, method = 'GET') => {
    const answer = await fetch(address, { method, headers });
    return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
  };

  it('a media link with a wrong token, an unknown id, another name or an outbound message is the same 404', async () => {
    world.host.set('/out.png', answerOf(200, png));
    const outbound = await world.send('/out.png');
    await world.settled(outbound);
    const [, , , , id = '', token = '', name = ''] = url.split('/');
    const bodies = new Set<string>();
    for (const wrong of [
      url.replace(token, `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`),
      url.replace(token, 'x'),
      url.replace(token, 'A'.repeat(22)),
      url.replace(id, 'msg_01h2xcejqtf2nbrexx3vqjhp41'),
      url.replace(id, 'msg_x'),
      url.replace(id, outbound),
      url.replace(name, 'menu.png'),
    ]) {
      const answer = await ask({}, wrong);
      assert.equal(answer.status, 404, wrong);
      bodies.add(answer.bytes.toString());
    }
    assert.equal(bodies.size, 1);
    assert.match([...bodies][0] ?? '', /"not_found"/);
  });

  it('browsers neither sniff nor execute a file, and display only pictures, videos and sounds (§2.8/media-downloads)', async () => {
    const shown = await ask();
    assert.equal(shown.headers.get('content-disposition'), 'inline; filename="menu.jpg"');
    const vcard = await ask({}, await receive(Buffer.from('BEGIN:VCARD\r\nEND:VCARD\r\n'), 'card'));
    assert.equal(vcard.headers.get('content-disposition'), 'attachment; filename="card.vcf"');
    for (const { headers } of [shown, vcard]) {
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('content-security-policy'), "sandbox; default-src 'none'");
      assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
      assert.equal(headers.get('cache-control'), 'private, no-cache');
    }
  });

  it('a request for a range is answered 206 with its bytes, and a range beyond the end 416 (§2.8/media-downloads)', async () => {
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 0],
      ['bytes=262143-262144', 262_143, 262_144],
      ['bytes=599999-', 599_999, 599_999],
      ['bytes=-10', 599_990, 599_999],
      ['bytes=10-9999999', 10, 599_999],
    ] as const) {
      const answer = await ask({ range });
      assert.equal(answer.status, 206, range);
      assert.equal(answer.headers.get('content-range'), `bytes ${start}-${end}/600000`);
      assert.ok(answer.bytes.equals(bytes.subarray(start, end + 1)), range);
    }
    const beyond = await ask({ range: 'bytes=600000-' });
    assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, 'bytes */600000']);
    for (const range of ['bytes=0-1,5-6', 'chars=0-1', 'bytes=5-1', 'bytes=-']) {
      assert.deepEqual([(await ask({ range })).status, range], [200, range]);
    }
  });

  it('a repeated request with the ETag is 304, and a range is served only if the client’s ETag is current', async () => {
    const etag = (await ask()).headers.get('etag') ?? '';
    const known = await ask({ 'if-none-match': `"other", ${etag}` });
    assert.deepEqual([known.status, known.bytes.length, known.headers.get('etag')], [304, 0, etag]);
    assert.equal((await ask({ 'if-none-match': '"other"' })).status, 200);
    assert.equal((await ask({ range: 'bytes=0-1', 'if-range': etag })).status, 206);
    assert.equal((await ask({ range: 'bytes=0-1', 'if-range': '"other"' })).status, 200);
  });

  it('HEAD has the headers of GET and no body', async () => {
    const answer = await ask({}, url, 'HEAD');
    assert.deepEqual(
      [
        answer.status,
        answer.headers.get('content-length'),
        answer.headers.get('content-type'),
        answer.bytes.length,
      ],
      [200, '600000', 'image/jpeg', 0],
    );
  });

  it('clients that read one link slowly do not delay other links, and are disconnected (§2.8/media-downloads)', async () => {
    const large = await receive(jpegOf(5_000_000), 'slowly');
    const { pathname } = new URL(large);
    const caller = { baseUrl: world.service.baseUrl, token: 'none' };
    const slow = await Promise.all(Array.from({ length: 4 }, () => slowDownload(caller, pathname)));
    const fifth = ask({ range: 'bytes=0-9' }, large);
    assert.equal((await ask({}, large, 'HEAD')).status, 200);
    assert.ok((await ask()).bytes.equals(bytes));
    assert.equal(await Promise.race([fifth.then(() => 'served'), ask().then(() => 'waits')]), 'waits');
    // The clock passes the time that 5 MB may take, so the fifth request has waited too long for its place.
    world.service.clock.advance(400_000);
    assert.equal((await fifth).status, 503);
    assert.equal((await ask({ range: 'bytes=0-9' }, large)).status, 206);
    for (const reader of slow) reader.destroy();
  });
});

describe('byte ranges (RFC 9110, section 14.2)', () => {
  for (const [header, expected] of [
    [undefined, undefined],
    ['bytes=0-4', { start: 0, end: 4 }],
    ['bytes= 2 - ', { start: 2, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-100', { start: 0, end: 9 }],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=99999999999999999999-', undefined],
    ['bytes=a-b', undefined],
  ] as const) {
    it(`the range ${header} of 10 bytes is read as RFC 9110 says`, () =>
      assert.deepEqual(parseByteRange(header, 10), expected));
  }
});
