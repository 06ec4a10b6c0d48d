import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ShortcutPhone as SimulatedShortcutPhone } from '#simulated-phone/shortcut-phone.ts';
import type { PhoneLine } from '#simulated-phone/simulated-phone.ts';
import { answerOf } from '#test/support/media/media-host.ts';
import { type MediaWorld, startMediaWorld } from '#test/support/media/media-team.ts';
import { jpegOf, png } from '#test/support/media/sample-files.ts';
import { claim, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { until } from '#test/support/service/until.ts';
import { ShortcutPhone, setupCodeOf } from '#test/support/shortcuts/shortcut-phone.ts';

describe('pictures through Ownline Outbox, against the service (specification sections 11.10 and 11.11)', () => {
  let world: MediaWorld;
  const phones: { switchOff: () => unknown }[] = [];
  before(async () => {
    world = await startMediaWorld();
    world.host.set('/photo.jpg', answerOf(200, jpegOf(300_000)));
    world.host.set('/sign.png', answerOf(200, png));
  });
  after(async () => {
    for (const phone of phones) await phone.switchOff();
    await world.close();
  });

  const newNumber = async () => {
    const from = newPhoneNumber();
    const verify = await world.team.api.post('/v1/numbers/verify', { phone_number: from });
    const { token: deviceToken } = await claim(world.team.api, String(verify.json.setup_url));
    return { from, deviceToken };
  };
  const untilVerified = (from: string) =>
    until('the number is verified', async () => {
      const { text } = await world.team.api.get('/v1/numbers');
      return new RegExp(`"phone_number":"\\${from}"[^}]*"verified":true`).test(text);
    });
  const untilSent = (id: string) =>
    until('the message is sent', async () => (await world.get(id)).status === 'sent');

  it('a picture arrives byte for byte before its text, in the order of messages (§11.11/error-page)', async () => {
    const { from, deviceToken } = await newNumber();
    const phone = new ShortcutPhone({ setupCode: setupCodeOf(world.service.baseUrl, deviceToken) });
    phones.push(phone);
    void phone.startOutbox();
    await untilVerified(from);
    const to = '+14155550101';
    await world.team.api.send({ from, to, content: 'before' });
    await world.send('/photo.jpg', { from, to });
    await untilSent(await world.team.api.send({ from, to, content: 'after' }));
    const [before, picture, ...texts] = phone.sent;
    assert.equal(before?.kind === 'text' && before.text, 'before');
    assert.ok(picture?.kind === 'file');
    assert.deepEqual(
      [picture.to, picture.file.name, picture.file.mediaType],
      [to, 'photo.jpg', 'image/jpeg'],
    );
    assert.ok(picture.file.bytes.equals(jpegOf(300_000)));
    assert.deepEqual(
      texts.map((message) => message.kind === 'text' && message.text),
      ['Look', 'after'],
    );
  });

  it("the simulated phone prints the picture's SHA-256 with its text", async () => {
    const { from, deviceToken } = await newNumber();
    const lines: PhoneLine[] = [];
    const phone = new SimulatedShortcutPhone({
      server: world.service.baseUrl,
      deviceToken,
      count: 1,
      onLine: (line) => lines.push(line),
    });
    phones.push(phone);
    const running = phone.run();
    await untilVerified(from);
    const id = await world.send('/sign.png', { from });
    await running;
    const [sent, reported] = lines;
    assert.ok(sent?.did === 'sent');
    const { name, type, bytes, sha256 } = sent.media ?? {};
    assert.deepEqual([sent.text, name, type, bytes], ['Look', 'sign.png', 'image/png', png.length]);
    assert.match(String(sha256), /^[0-9a-f]{64}$/);
    assert.deepEqual(reported, { did: 'reported', id, status: 'sent' });
  });
});
