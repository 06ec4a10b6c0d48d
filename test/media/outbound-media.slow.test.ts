import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { mediaMaxBytes } from '#contract/media.ts';
import { mediaLeaseMarginMs } from '#server/messages/limits.ts';
import { publishAll } from '#test/support/events/given-publication.ts';
import { fetchAsPhone } from '#test/support/media/device-download.ts';
import { answerOf, unboundedAnswer } from '#test/support/media/media-host.ts';
import { type MediaWorld, startMediaWorld } from '#test/support/media/media-team.ts';
import { jpegOf, png, shownFiles } from '#test/support/media/sample-files.ts';
import { countStoredMedia, isPaused, storedFetches } from '#test/support/media/stored-media.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

describe('media of outbound messages (§3.2/media-fetch)', () => {
  // 15 s suffice for 5 MB on a busy machine, and the lease stays shorter than the pause between tries (isPaused).
  const world = given(() => startMediaWorld({ MEDIA_TIMEOUT_MS: '15000' }));

  /** Lets the phone poll and report the message, and checks the bytes that it got. */
  async function assertArrives(id: string, bytes: Buffer, type: string, name: string): Promise<void> {
    await world.settled(id);
    const { wire } = world.number;
    const poll = await wire.poll();
    assert.deepEqual([poll.action, poll.id, poll.text], ['send', id, 'Look']);
    assert.equal(poll.media, `/v1/device/media/${id}/${name}`);
    const file = await fetchAsPhone(wire, poll.media ?? '');
    assert.deepEqual([file?.status, file?.type, file?.length], [200, type, bytes.length]);
    assert.equal(
      createHash('sha256')
        .update(file?.bytes ?? '')
        .digest('hex'),
      createHash('sha256').update(bytes).digest('hex'),
    );
    assert.equal((await wire.poll({ last: id })).action, 'idle');
  }

  /** Waits until `count` fetches have had `tries` tries each and pause before the next try. */
  const untilPaused = ({ service }: MediaWorld, count: number, tries: number) => {
    const leaseMs = service.runtime.config.mediaTimeoutMs + mediaLeaseMarginMs;
    return until(`${count} fetches wait after try ${tries}`, async () => {
      const paused = (await storedFetches(service)).filter((fetch) => isPaused(fetch, leaseMs));
      return paused.filter((fetch) => fetch.tries === tries).length === count;
    });
  };

  // Other types are tested in media-type.test.ts.
  for (const [type, extension, bytes] of shownFiles.filter(([, end]) =>
    ['jpg', 'mov', 'pdf'].includes(end),
  )) {
    it(`${type} reaches the phone byte by byte, under a name that ends in .${extension} (§2.8/media-types)`, async () => {
      world.host.set(`/files/sample-${extension}.bin`, answerOf(200, bytes));
      const id = await world.send(`/files/sample-${extension}.bin`);
      await assertArrives(id, bytes, type, `sample-${extension}.${extension}`);
    });
  }

  it('the bytes decide the type of a file, whatever its Content-Type says', async () => {
    world.host.set('/lie.html', answerOf(200, png, { 'content-type': 'text/html' }));
    await assertArrives(await world.send('/lie.html'), png, 'image/png', 'lie.png');
    world.host.set('/lie.png', answerOf(200, Buffer.from('<html>'), { 'content-type': 'image/png' }));
    const { code, text } = await world.failure(await world.send('/lie.png'));
    assert.equal(code, 'media_unavailable');
    assert.match(text, /of a type that an iPhone does not send; put a link to it into the text\.$/);
  });

  it('a file of 5 MB arrives, and a larger file fails with media_too_large, with or without a Content-Length (§2.8/media-size, §3.2/media-too-large)', async () => {
    const full = jpegOf(mediaMaxBytes);
    const more = jpegOf(mediaMaxBytes + 1);
    world.host.set('/full.jpg', answerOf(200, full));
    world.host.set('/more.jpg', answerOf(200, more));
    world.host.set('/unbounded.jpg', unboundedAnswer(full));
    world.host.set('/unbounded-more.jpg', unboundedAnswer(more));
    await assertArrives(await world.send('/full.jpg'), full, 'image/jpeg', 'full.jpg');
    await assertArrives(await world.send('/unbounded.jpg'), full, 'image/jpeg', 'unbounded.jpg');
    for (const path of ['/more.jpg', '/unbounded-more.jpg']) {
      const { code, text } = await world.failure(await world.send(path));
      assert.equal(code, 'media_too_large', path);
      assert.match(text, /larger than 5 MB/);
    }
    const { incomplete } = await countStoredMedia(world.service);
    assert.equal(incomplete, 0, 'what was written of a file that failed is removed');
  });

  it('a Content-Length above 5 MB fails the message at once, even if few bytes follow', async () => {
    world.host.set('/promise.png', answerOf(200, png, { 'content-length': String(mediaMaxBytes + 1) }));
    assert.equal((await world.failure(await world.send('/promise.png'))).code, 'media_too_large');
  });

  it('a permanent failure of a fetch fails the message at once, with a text that names the cause (§3.2/media-unavailable, §2.8/media-outbound)', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    world.host.set('/gone.png', answerOf(404));
    world.host.set('/empty.png', answerOf(200));
    world.host.set('/page.png', answerOf(200, Buffer.from('<!doctype html>')));
    for (const [, extension, bytes] of shownFiles)
      world.host.set(`/sample.${extension}`, answerOf(200, bytes));
    world.host.set('/bomb.png', answerOf(200, bomb, { 'content-encoding': 'gzip' }));
    world.host.set('/part.png', answerOf(206, png));
    const metadata = { location: 'http://169.254.169.254/latest' };
    world.host.set('/inside.png', answerOf(307, Buffer.alloc(0), metadata));
    for (const [path, words] of [
      ['/gone.png', /HTTP status 404/],
      ['/empty.png', /0 bytes/],
      ['/page.png', /type that an iPhone does not send/],
      ['/sample.vcf', /type that an iPhone does not send/],
      ['/sample.ics', /type that an iPhone does not send/],
      ['/bomb.png', /compressed/],
      ['/part.png', /HTTP status 206/],
      ['/inside.png', /a redirect of it, leads to a private network/],
    ] as const) {
      const { code, text } = await world.failure(await world.send(path));
      assert.equal(code, 'media_unavailable', path);
      assert.match(text, words);
      assert.match(text, /send the message again/);
      assert.equal(world.host.paths().filter((asked) => asked === path).length, 1, path);
    }
  });

  it('a failed fetch refunds the message in its month and makes one event message.failed', async () => {
    const used = async () => (await world.team.api.get('/v1/usage')).json;
    const before = await used();
    const id = await world.send('/never-there.png');
    await world.failure(id);
    assert.deepEqual(await used(), before);
    await publishAll(world.service);
    const events = await world.team.api.get('/v1/events?limit=100');
    const all = (
      events.json.events as { type: string; data: { id: string; error_message: string } }[]
    ).filter(({ data }) => data.id === id);
    assertEach(all, ({ type }) => type, ['message.failed']);
    assert.match(all[0]?.data.error_message ?? '', /404/);
  });

  it('a fetch with transient failures is tried three times, with pauses of 10 and 60 seconds (§3.2/media-tries)', async () => {
    world.host.set('/busy.png', answerOf(503));
    const id = await world.send('/busy.png');
    const tries = () => world.host.paths().filter((path) => path === '/busy.png').length;
    for (const [number, pauseMs] of [
      [1, 10_000],
      [2, 60_000],
    ] as const) {
      await until(`try ${number}`, async () => tries() === number);
      await untilPaused(world, 1, number);
      assert.equal((await world.get(id)).waiting_reason, 'media_fetching');
      world.service.clock.advance(pauseMs + 1_000);
    }
    const { code, text } = await world.failure(id);
    assert.equal(code, 'media_unavailable');
    assert.match(text, /HTTP status 503/);
    assert.equal(tries(), 3);
  });

  it('a file is fetched again after a transient failure, and the message is sent', async () => {
    world.host.set('/later.png', answerOf(500));
    const id = await world.send('/later.png');
    await until('the first try', async () => world.host.paths().includes('/later.png'));
    await untilPaused(world, 1, 1);
    world.host.set('/later.png', answerOf(200, png));
    world.service.clock.advance(11_000);
    await assertArrives(id, png, 'image/png', 'later.png');
  });

  it('a connection that breaks off, a host that sends slowly and one that is silent are transient failures', async (t) => {
    // This test waits for a time-out, so it uses a service with a short one.
    const hasty = await startMediaWorld({ MEDIA_TIMEOUT_MS: '1500' });
    t.after(() => hasty.close());
    hasty.host.set('/broken.png', (socket) => {
      answerOf(200, png, { 'content-length': '100000' })(socket, '');
      setImmediate(() => socket.destroy());
    });
    hasty.host.set('/drip.png', (socket) => {
      answerOf(200, png, { 'content-length': '100000' })(socket, '');
      const timer = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    hasty.host.set('/silent.png', () => undefined);
    const ids = await Promise.all(
      ['/broken.png', '/drip.png', '/silent.png'].map((path) => hasty.send(path)),
    );
    for (const [tries, pauseMs] of [
      [1, 10_000],
      [2, 60_000],
    ] as const) {
      await untilPaused(hasty, ids.length, tries);
      hasty.service.clock.advance(pauseMs + 1_000);
    }
    const failures = await Promise.all(ids.map((id) => hasty.failure(id)));
    assert.match(failures[0]?.text ?? '', /connection broke in the middle/);
    assert.match(failures[1]?.text ?? '', /had not arrived in full when the time was up/);
    assert.match(failures[2]?.text ?? '', /had not arrived in full when the time was up/);
  });

  it('three redirects of a fetch are followed, and a fourth redirect or one to an invalid URL fails the message with that reason (§3.2/media-redirects)', async () => {
    const { host } = world;
    const hop = (location: string) => answerOf(302, Buffer.alloc(0), { location });
    const login = new URL(host.url('/hop-3'));
    login.username = 'ada';
    host.set('/hop-0', hop('/hop-1'));
    host.set('/hop-1', hop('/hop-2'));
    host.set('/hop-2', hop(host.url('/hop-3')));
    host.set('/hop-3', hop('hop.png#part'));
    host.set('/hop.png', answerOf(200, png));
    host.set('/hop-wrong', hop('https://['));
    host.set('/hop-login', hop(login.href));
    host.set('/hop-long', hop(host.url(`/${'a'.repeat(2_048)}`)));
    host.set('/hop-nowhere', answerOf(302, Buffer.alloc(0)));
    await assertArrives(await world.send('/hop-1'), png, 'image/png', 'hop-1.png');
    for (const [path, words] of [
      ['/hop-0', /redirected more than three times/],
      ['/hop-wrong', /redirected to a URL that is not valid/],
      ['/hop-login', /redirected to a URL that is not valid, is too long or has a user name/],
      ['/hop-long', /redirected to a URL that is not valid, is too long or has a user name/],
      ['/hop-nowhere', /answered with HTTP status 302/],
    ] as const) {
      const { code, text } = await world.failure(await world.send(path));
      assert.equal(code, 'media_unavailable', path);
      assert.match(text, words, path);
    }
  });
});
