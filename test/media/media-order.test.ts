import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { before, describe, it } from 'node:test';
import { claimDevice } from '#simulated-phone/device-client.ts';
import { SimulatedPhone } from '#simulated-phone/simulated-phone.ts';
import { answerOf, startMediaHost } from '#test/support/media/media-host.ts';
import { startMediaWorld } from '#test/support/media/media-team.ts';
import { jpegOf, png } from '#test/support/media/sample-files.ts';
import { countStoredMedia, storedFetches } from '#test/support/media/stored-media.ts';
import { connectNumber, findNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

describe('media and the order of messages (§4.3/order, §3.2/media-fetch)', () => {
  const world = given(startMediaWorld);
  /** Sockets that a test answers later. */
  const hanging: Socket[] = [];

  before(async () => {
    world.host.set('/hang.png', (socket) => void hanging.push(socket));
  });

  const sendText = async (to: string, content: string, from = world.number.phoneNumber) =>
    world.team.api.send({ from, to, content });
  const untilAsked = (count: number) => until('the host was asked', () => hanging.length === count);

  it('only later messages of the same conversation wait until the file of a message is fetched', async () => {
    const { wire } = world.number;
    const first = await sendText('+14155550111', 'before the picture');
    const picture = await world.send('/hang.png', { to: '+14155550111' });
    const behind = await sendText('+14155550111', 'after the picture');
    const other = await sendText('+14155550112', 'another conversation');
    await untilAsked(1);
    assert.equal((await wire.poll()).id, first);
    assert.equal((await wire.poll({ last: first })).id, other);
    assert.equal((await wire.poll({ last: other })).action, 'idle');
    assert.equal((await world.get(picture)).waiting_reason, 'media_fetching');
    assert.equal((await world.get(behind)).waiting_reason, 'earlier_message');
    const held = wire.poll();
    answerOf(200, png)(hanging.splice(0)[0] as Socket, '');
    const handed = await held;
    assert.deepEqual([handed.id, handed.media], [picture, `/v1/device/media/${picture}/hang.png`]);
    assert.equal((await wire.poll({ last: picture })).id, behind);
    assert.equal((await wire.poll({ last: behind })).action, 'idle');
  });

  it('a media host that hangs delays neither other hosts of its team nor other teams', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await world.send('/hang.png', { to: `+141555502${n + 10}` }));
    await untilAsked(4);
    const elsewhere = await startMediaHost();
    elsewhere.set('/quick.png', answerOf(200, png));
    const quick = await world.send(elsewhere.url('/quick.png'), { to: '+14155550113' });
    await world.settled(quick);
    const others = await world.service.newTeam();
    const { phoneNumber, wire } = await connectNumber(world.service, others);
    const body = { from: phoneNumber, to: '+14155550114', content: 'Look' };
    world.host.set('/theirs.png', answerOf(200, png));
    const theirs = await others.api.post('/v1/messages/send', {
      ...body,
      media_url: world.host.url('/theirs.png'),
    });
    await world.settled(String(theirs.json.id));
    assert.equal((await wire.poll()).id, theirs.json.id);
    assert.equal(hanging.length, 4, 'of one host 4 are fetched at a time');
    assert.equal((await storedFetches(world.service)).filter(({ tries }) => tries > 0).length, 4);
    for (const id of ids) await world.team.api.post(`/v1/messages/${id}/cancel`);
    for (const socket of hanging.splice(0)) socket.destroy();
    await elsewhere.close();
    assert.equal((await world.number.wire.poll()).id, quick);
    await world.number.wire.poll({ last: quick });
  });

  it('cancelling a message ends the fetch of its file and leaves nothing of the file', async () => {
    const before = await countStoredMedia(world.service);
    world.host.set('/slow.jpg', (socket) => {
      answerOf(200, jpegOf(400_000), { 'content-length': '1000000' })(socket, '');
      hanging.push(socket);
    });
    const id = await world.send('/slow.jpg', { to: '+14155550115' });
    await until(
      'a chunk is stored',
      async () => (await countStoredMedia(world.service)).chunks > before.chunks,
    );
    assert.equal((await world.team.api.post(`/v1/messages/${id}/cancel`)).json.error_code, 'cancelled');
    assert.deepEqual(await countStoredMedia(world.service), before);
    assert.deepEqual(await storedFetches(world.service), []);
    const [socket] = hanging.splice(0);
    socket?.write(jpegOf(300_000));
    await until('the fetch hangs up', () => socket?.destroyed === true);
    assert.deepEqual(await countStoredMedia(world.service), before);
    assert.equal((await world.get(id)).status, 'failed');
  });

  it('a fetch that a stop aborts does not count as a try and leaves nothing of the file', async (t) => {
    const stopped = await startMediaWorld();
    t.after(() => stopped.close());
    stopped.host.set('/slow.jpg', answerOf(200, jpegOf(400_000), { 'content-length': '1000000' }));
    await stopped.send('/slow.jpg');
    await until('a chunk is stored', async () => (await countStoredMedia(stopped.service)).chunks > 0);
    await stopped.service.app.lifecycle.close();
    assert.deepEqual(await countStoredMedia(stopped.service), { complete: 0, incomplete: 0, chunks: 0 });
    const [fetch] = await storedFetches(stopped.service);
    assert.equal(fetch?.tries, 0);
    assert.ok(fetch.dueInMs <= 0);
  });

  it('a repeat with the same Idempotency-Key fetches no media again, and a repeat with another media_url is refused (§4.3/idempotency-key)', async () => {
    world.host.set('/once.png', answerOf(200, png));
    const headers = { 'idempotency-key': 'picture' };
    const body = {
      from: world.number.phoneNumber,
      to: '+14155550116',
      content: 'Look',
      media_url: world.host.url('/once.png'),
    };
    const post = (fields: object) =>
      world.team.api.post('/v1/messages/send', { ...body, ...fields }, headers);
    const first = await post({});
    assert.equal(first.status, 202, first.text);
    await world.settled(String(first.json.id));
    const repeat = await post({});
    assert.deepEqual(repeat.json, first.json);
    assert.equal(repeat.headers.get('idempotent-replayed'), 'true');
    for (const media_url of [null, world.host.url('/other.png')]) {
      assert.equal((await post({ media_url })).status, 400);
    }
    assert.equal(world.host.paths().filter((path) => path === '/once.png').length, 1);
    const { wire } = world.number;
    assert.equal((await wire.poll()).id, first.json.id);
    await wire.poll({ last: String(first.json.id) });
  });

  it('a simulated phone gets text and picture together, and prints the digest of the file', async () => {
    const bytes = jpegOf(700_000);
    world.host.set('/menu.jpg', answerOf(200, bytes));
    const from = newPhoneNumber();
    const verify = await world.team.api.post('/v1/numbers/verify', { phone_number: from });
    const { server, deviceToken } = await claimDevice(String(verify.json.setup_url));
    const lines: unknown[] = [];
    const phone = new SimulatedPhone({
      server,
      deviceToken,
      count: 3,
      waitSeconds: 0,
      onLine: (line) => void lines.push(line),
    });
    const to = '+14155550117';
    const running = phone.run();
    await until('the number is verified', async () => {
      const found = await findNumber(world.team.api, from);
      return found?.verified === true;
    });
    const before = await sendText(to, 'one', from);
    const picture = await world.send('/menu.jpg', { to, from });
    const behind = await sendText(to, 'two', from);
    await running;
    assertEach(phone.sent, ({ id, text }) => [id, text], [
      [before, 'one'],
      [picture, 'Look'],
      [behind, 'two'],
    ]);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    assert.deepEqual(phone.sent[1]?.media, {
      name: 'menu.jpg',
      type: 'image/jpeg',
      bytes: bytes.length,
      sha256,
    });
  });
});
