import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { mediaMaxBytes } from '#contract/media.ts';
import { incompleteMediaMs, mediaChunkBytes, mediaSliceBytes } from '#server/media/limits.ts';
import {
  completeMediaFile,
  findMediaFile,
  purgeAbandonedMedia,
  readMedia,
  readMediaSlice,
  removeIncompleteMedia,
} from '#server/media/media-store.ts';
import { MediaWriter, type WrittenMedia } from '#server/media/media-writer.ts';
import type { MessageId } from '#server/platform/ids.ts';
import { refuseInserts } from '#test/support/database/table-faults.ts';
import { jpegOf, otherFiles, png, shownFiles } from '#test/support/media/sample-files.ts';
import { countStoredMedia } from '#test/support/media/stored-media.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

const contact = '+14155550199';
let texts = 0;

describe('media of inbound messages (§2.8/media-links)', () => {
  const { service, team } = givenTeam();
  const number = given(() => connectNumber(service, team));

  const receive = (fields: Record<string, string>) => {
    texts += 1;
    return number.wire.call('inbound', { from: contact, text: `text ${texts}`, ...fields });
  };
  const get = async (id: string | undefined) => (await team.api.get(`/v1/messages/${id}`)).json;
  const receiveFile = async (bytes: Buffer, fields: Record<string, string> = {}) => {
    const answer = await receive({ media: bytes.toString('base64'), media_type: 'image/jpeg', ...fields });
    assert.deepEqual([answer.ok, answer.media], ['1', 'stored']);
    return { id: String(answer.id), url: String((await get(answer.id)).media_url) };
  };

  // Other types are tested in media-type.test.ts.
  for (const [type, extension, bytes] of shownFiles.filter(([, end]) =>
    ['jpg', 'mov', 'vcf'].includes(end),
  )) {
    it(`${type} is stored and served at its link, byte by byte, under the type of its bytes`, async () => {
      const { id, url } = await receiveFile(bytes, { media_name: `Sample ${extension}.bin` });
      assert.match(
        url,
        new RegExp(`^${service.baseUrl}/media/${id}/[\\w-]{22}/Sample-${extension}\\.${extension}$`),
      );
      const answer = await fetch(url);
      assert.deepEqual(
        [answer.status, answer.headers.get('content-type'), answer.headers.get('content-length')],
        [200, type, String(bytes.length)],
      );
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes));
    });
  }

  it('the message, the list and the event have the same link to the file', async () => {
    const { id, url } = await receiveFile(png);
    const list = await team.api.get(`/v1/messages?from=${encodeURIComponent(contact)}&limit=1`);
    assert.equal(field(list.json, 'messages.0.media_url'), url);
    const event = await until('the event is published', async () => {
      const events = (await team.api.get('/v1/events?limit=100')).json.events as {
        data: { id: string; media_url: string };
      }[];
      return events.find(({ data }) => data.id === id);
    });
    assert.equal(event.data.media_url, url);
  });

  it('an inbound file of 5 MB is stored, and a text whose file is refused is stored without it', async () => {
    const { url } = await receiveFile(jpegOf(mediaMaxBytes));
    assert.equal(Buffer.from(await (await fetch(url)).arrayBuffer()).length, mediaMaxBytes);
    const stored = await countStoredMedia(service);
    for (const [media, problem] of [
      [jpegOf(mediaMaxBytes + 1).toString('base64'), 'too_large'],
      ['=', 'empty'],
      ['<html>', 'unreadable'],
      ['data:image/png;base64,AAAA', 'unreadable'],
      ...otherFiles.map(([, bytes]) => [bytes.toString('base64'), 'unsupported_type'] as const),
    ] as const) {
      const answer = await receive({ media });
      assert.deepEqual([answer.ok, answer.media], ['1', problem]);
      const message = await get(answer.id);
      assert.deepEqual([message.content, message.media_url], [`text ${texts}`, null]);
    }
    const left = await countStoredMedia(service);
    assert.deepEqual([left.complete, left.chunks], [stored.complete, stored.chunks]);
  });

  it('the same file twice without a text is one message, and two different files are two messages', async () => {
    const before = await countStoredMedia(service);
    const first = await receiveFile(png, { text: '' });
    const other = await receiveFile(jpegOf(1_000), { text: '' });
    const again = await receiveFile(png, { text: '' });
    assert.equal((await get(first.id)).content, '');
    assert.notEqual(other.id, first.id);
    assert.deepEqual(again, first);
    assert.deepEqual(
      [(await countStoredMedia(service)).complete, (await countStoredMedia(service)).incomplete],
      [before.complete + 2, before.incomplete],
    );
  });

  it('two posts with the same device-given id are one message, even with different files', async () => {
    const first = await receiveFile(png, { id: 'picture-1' });
    assert.deepEqual(await receiveFile(jpegOf(500), { id: 'picture-1' }), first);
    assert.ok(Buffer.from(await (await fetch(first.url)).arrayBuffer()).equals(png));
  });

  it('an inbound text is stored although storing its file failed', async () => {
    for (const condition of ['query_canceled', 'data_exception'] as const) {
      const refusal = await refuseInserts(service, 'media_chunks', condition);
      const answer = await receive({ media: png.toString('base64') });
      await refusal.end();
      assert.deepEqual([answer.ok, answer.media], ['1', 'not_stored'], condition);
      const message = await get(answer.id);
      assert.deepEqual([message.content, message.media_url], [`text ${texts}`, null]);
    }
    const stored = await storedMessages(service, { teamId: team.id });
    const refusal = await refuseInserts(service, 'media_chunks', 'connection_failure');
    const media = png.toString('base64');
    assert.deepEqual(await receive({ media, text: 'again' }), { ok: '0', reason: 'unavailable' });
    await refusal.end();
    assert.equal((await storedMessages(service, { teamId: team.id })).length, stored.length);
    assert.equal((await receive({ media, text: 'again' })).media, 'stored', 'the phone repeats it');
  });

  it('the answer to a message without media has no field media', async () => {
    for (const fields of [{}, { media: '' }, { media: 'none' }]) {
      assert.deepEqual(Object.keys(await receive(fields)), ['ok', 'id']);
    }
  });
});

describe('the storage of media (decision 0025)', () => {
  const { service, team } = givenTeam();

  const newWriter = (messageId: MessageId = service.runtime.ids.next('msg')) => ({
    messageId,
    writer: new MediaWriter(service.runtime, { teamId: team.id, messageId, wantedName: 'menu.jpg' }),
  });
  const isWritten = (written: unknown): written is WrittenMedia => typeof written === 'object';
  const store = async (bytes: Buffer, pieceBytes = 65_536) => {
    const { messageId, writer } = newWriter();
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      if (!(await writer.write(bytes.subarray(at, at + pieceBytes)))) break;
    }
    const written = await writer.end();
    if (isWritten(written))
      assert.ok(await service.runtime.database.transaction((trx) => completeMediaFile(trx, written)));
    return { messageId, written };
  };
  const read = async (messageId: MessageId, range?: { start: number; end: number }) => {
    const file = await findMediaFile(service.runtime.database.pool, { messageId });
    assert.ok(file);
    return Buffer.concat(await Array.fromAsync(readMedia(service.runtime.database.pool, file, range)));
  };

  for (const size of [20, mediaChunkBytes - 1, mediaChunkBytes, mediaChunkBytes + 1, mediaMaxBytes]) {
    it(`a file of ${size} bytes is read as it was written (§2.8/media-size)`, async () => {
      const bytes = jpegOf(size);
      const { messageId, written } = await store(bytes, 50_001);
      assert.ok(isWritten(written));
      assert.equal(written.name, 'menu.jpg');
      assert.equal(written.sizeBytes, size);
      assert.deepEqual(written.sha256, createHash('sha256').update(bytes).digest());
      assert.ok((await read(messageId)).equals(bytes));
    });
  }

  it('a file that is one byte too large is refused, and nothing after that byte is stored (§2.8/media-size)', async () => {
    const { writer } = newWriter();
    assert.equal(await writer.write(jpegOf(mediaMaxBytes)), true);
    assert.equal(await writer.write(Buffer.alloc(1)), false);
    assert.equal(await writer.write(Buffer.alloc(1)), false);
    assert.equal(await writer.end(), 'too_large');
  });

  it('an empty file and one of an unsupported type are refused', async () => {
    assert.equal((await store(Buffer.alloc(0))).written, 'empty');
    assert.equal((await store(Buffer.from('<html>'))).written, 'unsupported_type');
    assert.equal((await store(Buffer.alloc(mediaChunkBytes, 'x'))).written, 'unsupported_type');
  });

  it('any range of a file can be read, even across chunks', async () => {
    const bytes = jpegOf(3 * mediaChunkBytes);
    const { messageId } = await store(bytes);
    for (const [start, end] of [
      [0, 0],
      [mediaChunkBytes - 1, mediaChunkBytes],
      [mediaChunkBytes, 2 * mediaChunkBytes - 1],
      [10, 3 * mediaChunkBytes - 1],
      [3 * mediaChunkBytes - 1, 3 * mediaChunkBytes - 1],
    ] as const) {
      assert.ok((await read(messageId, { start, end })).equals(bytes.subarray(start, end + 1)));
    }
  });

  it('a file is read in slices, and none is longer than a download may have in memory', async () => {
    const { messageId } = await store(jpegOf(mediaChunkBytes + 1));
    const file = await findMediaFile(service.runtime.database.pool, { messageId });
    assert.ok(file);
    const slices = await Array.fromAsync(readMedia(service.runtime.database.pool, file));
    assert.equal(Math.max(...slices.map((slice) => slice.length)), mediaSliceBytes);
  });

  it('reading past the end of a file fails', async () => {
    const { messageId } = await store(jpegOf(100));
    const file = await findMediaFile(service.runtime.database.pool, { messageId });
    assert.ok(file);
    for (const offset of [100, mediaChunkBytes]) {
      await assert.rejects(readMediaSlice(service.runtime.database.pool, file, offset, 1), /missing/);
    }
  });

  it('no reader finds an incomplete file, and its removal ends the writer', async () => {
    const before = await countStoredMedia(service);
    const { messageId, writer } = newWriter();
    assert.equal(await writer.write(jpegOf(mediaChunkBytes)), true);
    assert.equal(await findMediaFile(service.runtime.database.pool, { messageId }), undefined);
    assert.equal((await countStoredMedia(service)).chunks, before.chunks + 1);
    await service.runtime.database.transaction((trx) => removeIncompleteMedia(trx, [messageId]));
    assert.equal(await writer.write(Buffer.alloc(mediaChunkBytes)), false);
    assert.equal(await writer.end(), 'removed');
    assert.deepEqual(await countStoredMedia(service), before);
  });

  it('writers that race the removal of their file leave no chunk', async () => {
    const before = await countStoredMedia(service);
    for (let round = 0; round < 10; round += 1) {
      const { messageId, writer } = newWriter();
      await writer.write(jpegOf(mediaChunkBytes));
      await Promise.all([
        writer.write(Buffer.alloc(4 * mediaChunkBytes)),
        service.runtime.database.transaction((trx) => removeIncompleteMedia(trx, [messageId])),
      ]);
    }
    assert.deepEqual(await countStoredMedia(service), before);
  });

  it('the chunks of a killed writer are purged after an hour, and complete files stay', async () => {
    await service.runtime.database.transaction((trx) => removeIncompleteMedia(trx, []));
    const { complete } = await countStoredMedia(service);
    const { writer } = newWriter();
    await writer.write(jpegOf(mediaChunkBytes));
    service.clock.advance(incompleteMediaMs - 60_000);
    await purgeAbandonedMedia(service.runtime);
    assert.ok((await countStoredMedia(service)).incomplete >= 1);
    service.clock.advance(61_000);
    await purgeAbandonedMedia(service.runtime);
    const left = await countStoredMedia(service);
    assert.deepEqual([left.complete, left.incomplete], [complete, 0]);
    assert.equal(await writer.write(Buffer.alloc(mediaChunkBytes)), false);
  });
});
