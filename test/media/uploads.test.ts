import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { mediaMaxBytes } from '#contract/media.ts';
import { incompleteMediaMs, unusedUploadsMaxBytes, uploadKeptMs } from '#server/media/limits.ts';
import { purgeAbandonedMedia } from '#server/media/media-store.ts';
import { isSendable } from '#server/media/media-type.ts';
import { fetchAsPhone } from '#test/support/media/device-download.ts';
import { startMediaWorld, mediaRecipient as to } from '#test/support/media/media-team.ts';
import { jpegOf, otherFiles, png, shownFiles } from '#test/support/media/sample-files.ts';
import { countStoredMedia, putUnusedUploads } from '#test/support/media/stored-media.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { type ApiClient, field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const path = '/v1/media';

/** An upload whose body a test writes. */
function openUpload(
  { baseUrl, key }: Pick<ApiClient, 'baseUrl' | 'key'>,
  head: string,
): { readonly socket: Socket; readonly status: Promise<string> } {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\nx-api-key: ${key}\r\n${head}\r\n\r\n`);
  const status = new Promise<string>((resolve) => {
    socket.once('data', (answer) => resolve(answer.toString().slice(9, 12)));
    socket.once('close', () => resolve('closed'));
  });
  return { socket, status };
}

describe('POST /v1/media', () => {
  const world = given(startMediaWorld);
  const upload = (bytes: Uint8Array, { api = world.team.api, query = '', type = 'text/plain' } = {}) =>
    api.request('POST', `${path}${query}`, {
      rawBody: Buffer.from(bytes),
      headers: { 'content-type': type },
    });
  const uploaded = async (bytes: Uint8Array = png, query = '') => {
    const answer = await upload(bytes, { query });
    assert.equal(answer.status, 201, answer.text);
    return String(answer.json.id);
  };
  const send = (fields: object, api = world.team.api, headers = {}) =>
    api.post(
      '/v1/messages/send',
      { from: world.number.phoneNumber, to, content: 'Look', ...fields },
      headers,
    );
  const stored = () => countStoredMedia(world.service);

  it('each file that an iPhone sends is stored with the type of its bytes, and others are refused with the list of types (§2.8/uploads, §2.8/media-types)', async () => {
    for (const [type, extension, bytes] of shownFiles) {
      const answer = await upload(bytes);
      if (isSendable(type))
        assert.deepEqual([answer.status, answer.json.type, answer.json.size], [201, type, bytes.length]);
      else assert.equal(answer.status, 400, extension);
    }
    const before = await stored();
    for (const [what, bytes] of otherFiles) {
      const answer = await upload(bytes, { type: 'image/png' });
      assert.equal(answer.status, 400, what);
      assert.match(String(field(answer.json, 'error.message')), /jpg, png, .*pdf\.$/);
    }
    assert.equal((await upload(Buffer.alloc(0))).status, 400);
    assert.deepEqual(await stored(), before);
  });

  it('a phone gets the file of a media_id, and each message that uses it shows a link to its own copy (§4.3/media-id, §2.8/uploads)', async () => {
    const bytes = jpegOf(600_000);
    const media_id = await uploaded(bytes, `?name=${encodeURIComponent('Tageskarte für heute.jpeg')}`);
    for (const recipient of [to, '+14155550102']) {
      const { json, status, text } = await send({ media_id, to: recipient });
      assert.equal(status, 202, text);
      const url = String(json.media_url);
      assert.match(url, new RegExp(`/media/${json.id}/[\\w-]{22}/Tageskarte-fur-heute\\.jpg$`));
      const id = String(json.id);
      await world.settled(id);
      assert.equal((await world.get(id)).media_url, url);
      const poll = await world.number.wire.poll();
      const file = await fetchAsPhone(world.number.wire, String(poll.media));
      assert.ok(file?.bytes.equals(bytes));
      await world.number.wire.poll({ last: id });
      assert.ok(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(bytes));
    }
  });

  it('an erasure of a contact deletes the file that its messages copied (§12.14/erase)', async () => {
    const [number, owner] = [world.number, await newMember(world.service, world.team, 'owner')];
    const media_id = await uploaded();
    const id = String((await send({ media_id, to: '+14155550188' })).json.id);
    await world.settled(id);
    assert.equal((await number.wire.poll()).id, id);
    await number.wire.poll({ last: id });
    const { json } = await owner.post(owner.in('/erasures'), { contact: '+14155550188' });
    assert.equal(json.status, 'erased');
    const { status, json: refused } = await send({ media_id });
    assert.deepEqual([status, field(refused, 'error.param')], [400, 'media_id']);
  });

  it('a media_id that is unknown, of another team, expired or beside a media_url is refused (§4.3/media-id)', async () => {
    const other = await world.service.newTeam();
    const foreign = await upload(png, { api: other.api });
    const media_id = await uploaded();
    for (const fields of [
      { media_id: 'med_01h2xcejqtf2nbrexx3vqjhp41' },
      { media_id: foreign.json.id },
      { media_id, media_url: 'https://example.com/a.png' },
      { media_id: 'msg_01h2xcejqtf2nbrexx3vqjhp41' },
    ]) {
      const { status, json } = await send(fields);
      assert.deepEqual([status, field(json, 'error.param')], [400, 'media_id'], JSON.stringify(fields));
    }
    assert.equal((await send({ media_id: null })).status, 202);
  });

  it('an unused file goes a day after its upload, its messages keep their copies, and a repeat stays a repeat (§2.8/uploads, §4.3/idempotency-key)', async () => {
    const media_id = await uploaded();
    world.service.clock.advance(1_000);
    const key = { 'idempotency-key': 'uploaded' };
    const first = await send({ media_id }, world.team.api, key);
    await world.settled(String(first.json.id));
    const copies = (await stored()).complete;
    world.service.clock.advance(uploadKeptMs - 1_000);
    const late = await send({ media_id });
    assert.deepEqual([late.status, field(late.json, 'error.param')], [400, 'media_id']);
    const repeat = await send({ media_id }, world.team.api, key);
    assert.deepEqual([repeat.json, repeat.headers.get('idempotent-replayed')], [first.json, 'true']);
    const changed = await send({ media_id: null }, world.team.api, key);
    assert.equal(field(changed.json, 'error.param'), 'Idempotency-Key');
    world.service.clock.advance(incompleteMediaMs);
    await purgeAbandonedMedia(world.service.runtime);
    assert.ok((await stored()).complete < copies);
    assert.equal((await fetch(String(first.json.media_url))).status, 200);
  });

  it('a file of 5 MiB is stored, and a larger one is refused with 413, with and without a length (§2.8/media-size)', async () => {
    const { status, json } = await upload(jpegOf(mediaMaxBytes));
    assert.deepEqual([status, json.size], [201, mediaMaxBytes]);
    const before = await stored();
    const large = jpegOf(mediaMaxBytes + 1);
    const refused = await upload(large);
    assert.match(String(field(refused.json, 'error.message')), /at most 5120 KiB/);
    const { socket, status: answered } = openUpload(world.team.api, 'transfer-encoding: chunked');
    socket.write(`${large.length.toString(16)}\r\n`);
    socket.write(large);
    socket.write('\r\n0\r\n\r\n');
    assert.deepEqual([refused.status, await answered], [413, '413']);
    // The connection was read to the end of the body, so it serves the next request.
    const next = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    assert.match(await next, /^HTTP\/1\.1 200/);
    socket.destroy();
    assert.deepEqual(await stored(), before);
  });

  it('a connection that breaks in the middle of a file leaves nothing, and bytes after the told length are no part of it (§2.8/uploads)', async () => {
    const before = await stored();
    const { socket } = openUpload(world.team.api, 'content-length: 1000000');
    socket.write(jpegOf(600_000));
    await until('a part is stored', async () => (await stored()).chunks > before.chunks);
    socket.destroy();
    await until('the part is removed', async () => (await stored()).chunks === before.chunks);
    assert.deepEqual(await stored(), before);
    const short = openUpload(world.team.api, `content-length: ${png.length}\r\nconnection: close`);
    short.socket.write(Buffer.concat([png, jpegOf(100)]));
    assert.equal(await short.status, '201');
    short.socket.destroy();
  });

  it('a key uploads two files at a time, a third gets 429 with retry-after, and another key is not delayed (§2.8/upload-limits)', async () => {
    const api = await world.service.newKey(world.team.id, ['messages:send']);
    const before = await stored();
    const slow = [1, 2].map(() => openUpload(api, 'content-length: 600000'));
    for (const { socket } of slow) socket.write(jpegOf(300_000));
    await until('both have begun', async () => (await stored()).incomplete === before.incomplete + 2);
    const third = await upload(jpegOf(500_000), { api });
    assert.deepEqual([third.status, third.headers.get('retry-after')], [429, '2']);
    assert.equal((await upload(png)).status, 201);
    for (const { socket } of slow) socket.write(jpegOf(300_000));
    for (const { socket, status } of slow) {
      assert.equal(await status, '201');
      socket.destroy();
    }
    assert.equal((await upload(png, { api })).status, 201);
  });

  it('a team has at most 200 MiB of files that no message uses, also with concurrent uploads (§2.8/upload-limits)', async () => {
    const team = await world.service.newTeam();
    const { phoneNumber: from } = await connectNumber(world.service, team);
    await putUnusedUploads(world.service, team.id, 39, world.service.clock.in(uploadKeptMs));
    const files = [jpegOf(mediaMaxBytes), jpegOf(mediaMaxBytes)];
    const answers = await Promise.all(files.map((file) => upload(file, { api: team.api })));
    const [taken, refused] = answers.toSorted((one, other) => one.status - other.status);
    assert.deepEqual([taken?.status, refused?.status], [201, 402]);
    const full = { limit: unusedUploadsMaxBytes, current: unusedUploadsMaxBytes };
    assert.partialDeepStrictEqual(refused?.json.error, full);
    const { json } = await send({ media_id: taken?.json.id, from }, team.api);
    await until('the message has its copy', async () => {
      const { json: message } = await team.api.get(`/v1/messages/${json.id}`);
      return message.waiting_reason !== 'media_fetching';
    });
    assert.equal((await upload(png, { api: team.api })).status, 201);
  });

  it('members and test keys upload files, and the plan free has none (§2.8/uploads, §8/plan-media)', async () => {
    const member = await newMember(world.service, world.team, 'member');
    const answer = await member.request('POST', member.in('/media'), { body: png });
    assert.equal(answer.status, 201, answer.text);
    assert.equal((await send({ media_id: answer.json.id })).status, 202);
    const free = await world.service.newTeam({ plan: 'free' });
    const refused = await upload(png, { api: free.api });
    assert.partialDeepStrictEqual(refused, { status: 402, json: { error: { limit: 0, param: 'media_id' } } });
  });
});
