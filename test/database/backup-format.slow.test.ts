import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { BackupError, DamagedBackupError } from '#server/backups/archive/backup-error.ts';
import {
  type BackupHeader,
  encodePrologue,
  frameBytes,
  tagBytes,
} from '#server/backups/archive/backup-format.ts';
import { createKey, FrameSeal } from '#server/backups/archive/backup-seal.ts';
import { BackupWriter } from '#server/backups/archive/backup-writer.ts';
import { verifyBackup } from '#server/backups/archive/verify-backup.ts';
import { memoryDestination, memorySource } from '#test/support/backups/memory-stream.ts';
import { rewriteBackup } from '#test/support/backups/rewrite-backup.ts';

const plainHeader: BackupHeader = {
  format: 2,
  product_version: '1.0.0',
  schema_version: 1,
  taken_at: '2026-11-22T03:00:00.000Z',
  encryption: null,
};

const manifest = {
  tables: [{ name: 'teams', columns: ['id'] }],
  sequences: [],
  secrets_key: '',
  shortcuts: [],
};

/** Writes a backup of one table, whose rows do not compress and fill three frames. */
async function write(header: BackupHeader = plainHeader, key?: Buffer): Promise<Buffer> {
  const { stream, bytes } = memoryDestination();
  const writer = new BackupWriter(stream, header, key);
  await writer.writeJson('manifest', manifest);
  await writer.writeJson('table', { name: 'teams' });
  for (let block = 0; block < 20; block += 1) {
    await writer.write('rows', Buffer.from(`${randomBytes(40_000).toString('base64')}\n`));
  }
  await writer.writeJson('summary', { rows: { teams: 20 } });
  const { bytes: size, sha256 } = await writer.finish();
  assert.equal(size, bytes().length);
  assert.equal(sha256, createHash('sha256').update(bytes()).digest('hex'));
  return bytes();
}

const read = async (bytes: Buffer, passphrase?: string) =>
  (await verifyBackup(memorySource(bytes), passphrase)).result;
const flipped = (bytes: Buffer, at: number) => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 0x10, at);
  return copy;
};

const isForeign = (part: string) => (error: unknown) =>
  error instanceof BackupError &&
  error.message.startsWith(`The ${part} in the file has a form that Ownline does not write`);

describe('the file of a backup (§10.10/backup-file)', () => {
  it('a backup with valid checksums that another program made is refused with a sentence', async () => {
    const headers = [
      null,
      [],
      {},
      'text',
      { ...plainHeader, format: '1' },
      { ...plainHeader, taken_at: 'today' },
      { ...plainHeader, taken_at: '1' },
      { ...plainHeader, product_version: '1.0.0\0' },
    ];
    for (const header of [...headers, { ...plainHeader, encryption: { cipher: 'aes-256-gcm' } }]) {
      const { bytes } = encodePrologue(header as BackupHeader);
      await assert.rejects(read(bytes), isForeign('header'), JSON.stringify(header));
    }
    const backup = await write();
    const parts = { manifest: 'list of tables', table: 'record of a table', summary: 'summary' } as const;
    for (const [kind, name] of Object.entries(parts)) {
      const withNul = JSON.stringify({
        ...manifest,
        name: 'a\0',
        shortcuts: [{ name: 'a\0.shortcut', data: '' }],
      });
      for (const json of ['{', 'null', '[]', '{}', '{"name":7}', '{"rows":{"teams":"20"}}', withNul]) {
        const changed = await rewriteBackup(backup, (record) =>
          record.kind === kind ? Buffer.from(json) : record.payload,
        );
        await assert.rejects(read(changed), isForeign(name), `${kind} ${json}`);
      }
    }
  });

  it('a backup from the future is refused with advice, and one of a clock that is some minutes ahead is not', async () => {
    const takenIn = (ms: number) =>
      write({ ...plainHeader, taken_at: new Date(Date.now() + ms).toISOString() });
    for (const bytes of [
      await takenIn(2 * 86_400_000),
      await write({ ...plainHeader, taken_at: '9999-12-31T23:59:59.999Z' }),
    ])
      await assert.rejects(
        read(bytes),
        /^BackupError: The backup says that it was taken at \d{4}-.*set the clock/,
      );
    await read(await takenIn(600_000));
  });

  it('an encrypted backup whose header has impossible key parameters is refused as damaged', async () => {
    const { key, encryption } = await createKey('correct horse');
    for (const scrypt of [
      { n: 3, r: 8, p: 1 },
      { n: 1, r: 8, p: 1 },
      { n: 2, r: 4_000_000, p: 4 },
      { n: 16_384, r: 8, p: 0 },
    ]) {
      const bytes = await write({ ...plainHeader, encryption: { ...encryption, scrypt } }, key);
      await assert.rejects(
        read(bytes, 'correct horse'),
        /damaged: its header asks for an encryption that no release/,
      );
    }
  });

  it('a backup is read back completely, and its hash is the one that sha256sum prints', async () => {
    const bytes = await write();
    assert.ok(bytes.length > 2 * frameBytes, String(bytes.length));
    assert.deepEqual(await read(bytes), {
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      taken_at: plainHeader.taken_at,
      schema_version: 1,
      tables: 1,
      rows: 20,
      encrypted: false,
    });
  });

  it('a backup with one changed byte is refused, wherever the byte is', async () => {
    const bytes = await write();
    const { length: start } = encodePrologue(plainHeader).bytes;
    const frame = 5 + frameBytes + tagBytes;
    const offsets = [
      ...Array.from({ length: start + 5 }, (_, at) => at),
      ...[frame - tagBytes, frame, frame + 1, frame + 4, frame + 5, 2 * frame].map((at) => start + at),
      ...Array.from({ length: 40 }, (_, at) => Math.floor((bytes.length * at) / 40)),
      ...Array.from({ length: 32 }, (_, at) => bytes.length - 1 - at),
    ];
    for (const at of offsets) {
      await assert.rejects(
        read(flipped(bytes, at)),
        at < 15 ? /^BackupError: The file is no backup/ : DamagedBackupError,
        `byte ${at}`,
      );
    }
  });

  it('a backup with missing, repeated, reordered or appended bytes is refused', async () => {
    const bytes = await write();
    for (const length of [14, 20, 100, 300, frameBytes, bytes.length - 32, bytes.length - 1])
      await assert.rejects(read(bytes.subarray(0, length)), /Backup(Error)?/, `${length} bytes`);
    await assert.rejects(read(Buffer.alloc(0)), /The file is empty/);
    await assert.rejects(
      read(Buffer.concat([bytes, Buffer.from('\n')])),
      /bytes follow the end of the backup/,
    );
    const { length: start } = encodePrologue(plainHeader).bytes;
    const frame = 5 + frameBytes + tagBytes;
    const first = bytes.subarray(start, start + frame);
    const second = bytes.subarray(start + frame, start + 2 * frame);
    const rest = bytes.subarray(start + 2 * frame);
    const head = bytes.subarray(0, start);
    for (const order of [
      [second, first, rest],
      [first, first, second, rest],
      [second, rest],
      [first, second],
    ])
      await assert.rejects(read(Buffer.concat([head, ...order])), DamagedBackupError);
  });

  it('the error for a file that is no backup, has a newer format or is older than the first release names the reason', async () => {
    const older = await write({ ...plainHeader, format: 1 });
    await assert.rejects(read(older), /from before its first release, and no release reads it/);
    await assert.rejects(
      read(Buffer.from('PGDMP, a dump of another program')),
      /The file is no backup of Ownline/,
    );
    const newer = await write({ ...plainHeader, format: 3, product_version: '9.0.0' });
    await assert.rejects(read(newer), (error: Error) => {
      assert.ok(error instanceof BackupError);
      assert.match(error.message, /newer release of Ownline \(9\.0\.0\)/);
      return true;
    });
  });

  it('an encrypted backup opens with its passphrase only, and a wrong one is not reported as damage', async () => {
    const { key, encryption } = await createKey('correct horse');
    const bytes = await write({ ...plainHeader, encryption }, key);
    assert.equal((await read(bytes, 'correct horse')).rows, 20);
    await assert.rejects(read(bytes, 'wrong horse'), /passphrase is wrong/);
    await assert.rejects(read(bytes), /The backup is encrypted\. Name the file/);
    await assert.rejects(read(flipped(bytes, 200), 'correct horse'), DamagedBackupError);
    await assert.rejects(
      read(await write(), 'correct horse'),
      /A passphrase was given, and the backup is not encrypted/,
    );
    assert.ok(!bytes.includes('teams'));
  });

  it('a frame of a backup can be read only in its own file and at its own position', () => {
    const [one, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    for (const key of [undefined, randomBytes(32)]) {
      const seal = new FrameSeal(one, key);
      const [first, second] = [
        seal.seal(Buffer.from('first'), false),
        seal.seal(Buffer.from('second'), true),
      ];
      const opened = (hash: Buffer, ...frames: [typeof first, boolean][]) => {
        const opening = new FrameSeal(hash, key);
        return frames.map(([frame, isLast]) => opening.open(frame, isLast)?.toString());
      };
      assert.deepEqual(opened(one, [first, false], [second, true]), ['first', 'second']);
      assert.deepEqual(opened(one, [second, true], [first, false]), [undefined, undefined]);
      assert.deepEqual(opened(one, [first, true], [second, false]), [undefined, undefined]);
      assert.deepEqual(opened(other, [first, false]), [undefined]);
      assert.deepEqual(opened(one, [{ ...first, bytes: flipped(first.bytes, 2) }, false]), [undefined]);
    }
  });
});
