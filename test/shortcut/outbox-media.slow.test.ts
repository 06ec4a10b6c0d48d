import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { ShortcutPhone } from '#simulated-phone/shortcut-phone.ts';
import type { PhoneLine } from '#simulated-phone/simulated-phone.ts';
import { answerOf } from '#test/support/media/media-host.ts';
import { startMediaWorld } from '#test/support/media/media-team.ts';
import { jpegOf } from '#test/support/media/sample-files.ts';
import { claim, findNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

describe('pictures through Ownline Outbox, against the service (specification sections 11.10 and 11.11)', () => {
  const world = given(startMediaWorld);

  it('a picture arrives byte for byte before its text, in the order of messages, and is reported (§11.11/error-page)', async () => {
    const bytes = jpegOf(300_000);
    world.host.set('/photo.jpg', answerOf(200, bytes));
    const { api } = world.team;
    const [from, to] = [newPhoneNumber(), '+14155550101'];
    const verify = await api.post('/v1/numbers/verify', { phone_number: from });
    const { token: deviceToken } = await claim(api, String(verify.json.setup_url));
    const lines: PhoneLine[] = [];
    const phone = new ShortcutPhone({
      server: world.service.baseUrl,
      deviceToken,
      count: 3,
      onLine: (line) => lines.push(line),
    });
    const running = phone.run();
    await until('the number is verified', async () => (await findNumber(api, from))?.verified === true);
    const before = await api.send({ from, to, content: 'before' });
    const picture = await world.send('/photo.jpg', { from, to });
    const after = await api.send({ from, to, content: 'after' });
    await running;
    const media = {
      name: 'photo.jpg',
      type: 'image/jpeg',
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    };
    const reported = (id: string) => ({ did: 'reported', id, status: 'sent' });
    assert.deepEqual(lines, [
      { did: 'sent', id: before, to, text: 'before' },
      reported(before),
      { did: 'sent', id: picture, to, text: 'Look', media },
      reported(picture),
      { did: 'sent', id: after, to, text: 'after' },
      reported(after),
    ]);
  });
});
