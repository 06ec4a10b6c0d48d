import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { incompleteMediaMs, mediaChunkBytes, mediaMaxBytes, mediaSliceBytes } from '#server/media/limits.ts';
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
import { jpegOf } from '#test/support/media/sample-files.ts';
import { countStoredMedia } from '#test/support/media/stored-media.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

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

  it('a file is read in slices no longer than a download may keep in memory', async () => {
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

  it('no reader finds an incomplete file, and removing the file stops its writer', async () => {
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

  it('no chunk remains if a file is removed while it is being written', async () => {
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
