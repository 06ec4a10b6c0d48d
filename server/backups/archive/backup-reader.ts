import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { BackupError, DamagedBackupError } from './backup-error.ts';
import {
  type BackupHeader,
  type ByteSource,
  FileDigest,
  type FileFigures,
  formatVersion,
  frameBytes,
  hashBytes,
  parseHeader,
  type RecordKind,
  readExactly,
  readPrologue,
  recordKinds,
  recordMaxBytes,
  tagBytes,
} from './backup-format.ts';
import { FrameSeal, openKey } from './backup-seal.ts';

export interface BackupRecord {
  readonly kind: RecordKind;
  readonly payload: Buffer;
}

/**
 * Reads a backup as a stream. A record is passed on only after the tags of its frames were checked. After the last
 * record the whole file has been checked, including its trailer and end.
 */
export class BackupReader {
  readonly header: BackupHeader;
  readonly #source: FileBytes;
  readonly #seal: FrameSeal;

  private constructor(header: BackupHeader, source: FileBytes, seal: FrameSeal) {
    this.header = header;
    this.#source = source;
    this.#seal = seal;
  }

  /**
   * @param passphrase undefined if none was given
   * @param now the latest time at which a backup may have been taken; by default this machine's time
   * @throws BackupError if the input is no backup, is damaged, or needs another passphrase
   */
  static async open(
    input: Readable,
    passphrase: string | undefined,
    now = new Date(new Clock().nowMs()),
  ): Promise<BackupReader> {
    const source = new FileBytes(input);
    const { json, hash } = await readPrologue(source);
    const header = parseHeader(json, formatVersion, now);
    const { encryption } = header;
    if (encryption === null && passphrase !== undefined)
      throw new BackupError(
        'A passphrase was given, and the backup is not encrypted. To read it all the same, leave the passphrase out.',
      );
    if (encryption !== null && passphrase === undefined)
      throw new BackupError(
        'The backup is encrypted. Name the file of its passphrase with --passphrase-file.',
      );
    const key = encryption && passphrase !== undefined ? await openKey(passphrase, encryption) : undefined;
    return new BackupReader(header, source, new FrameSeal(hash, key));
  }

  /** Yields every record in order. @throws DamagedBackupError */
  async *records(): AsyncGenerator<BackupRecord> {
    const decompressor = createZstdDecompress();
    const filled = pipeline(() => this.#frames(), decompressor);
    filled.catch(() => undefined);
    const stream = new StreamBytes(decompressor);
    try {
      for (;;) {
        const head = await stream.read(5);
        if (head.length === 0) break;
        if (head.length < 5) throw new DamagedBackupError('it ends in the middle of a record');
        const kind = kindOf(head.readUInt8(0));
        const length = head.readUInt32BE(1);
        if (kind === undefined || length > recordMaxBytes)
          throw new DamagedBackupError('a record has an unknown kind or an impossible length');
        yield { kind, payload: await readExactly(stream, length) };
      }
      await filled;
    } catch (error) {
      throw explainDecompression(error);
    } finally {
      decompressor.destroy();
      this.#source.end();
    }
  }

  /** Size and hash of the file; call it after the last record. */
  read(): FileFigures {
    return this.#source.digest.figures();
  }

  async *#frames(): AsyncGenerator<Buffer> {
    for (;;) {
      const head = await readExactly(this.#source, 5);
      const isLast = head.readUInt8(0) === 1;
      const length = head.readUInt32BE(1);
      if (head.readUInt8(0) > 1 || length > frameBytes)
        throw new DamagedBackupError('a frame has an unknown type or an impossible length');
      const bytes = await readExactly(this.#source, length);
      const plain = this.#seal.open({ bytes, tag: await readExactly(this.#source, tagBytes) }, isLast);
      if (plain === undefined) throw new DamagedBackupError('the checksum of a frame is wrong');
      // The last frame ends the records, so the trailer is checked before that frame is passed on.
      if (isLast) await this.#checkTrailer();
      yield plain;
      if (isLast) return;
    }
  }

  async #checkTrailer(): Promise<void> {
    const expected = this.#source.digest.hash();
    const trailer = await readExactly(this.#source, hashBytes);
    if (!trailer.equals(expected)) throw new DamagedBackupError('the checksum of the file is wrong');
    if ((await this.#source.read(1)).length > 0)
      throw new DamagedBackupError('bytes follow the end of the backup');
  }
}

function kindOf(code: number): RecordKind | undefined {
  const found = Object.entries(recordKinds).find(([, value]) => value === code);
  return found?.[0] as RecordKind | undefined;
}

/**
 * Maps an error of the decompressor to DamagedBackupError. The frames' tags were correct, so only a faulty writer
 * causes such an error.
 */
function explainDecompression(error: unknown): unknown {
  const code = errorCodeOf(error) ?? '';
  return code.startsWith('ZSTD_') || code === 'Z_BUF_ERROR'
    ? new DamagedBackupError('its data cannot be decompressed', error)
    : error;
}

/** Reads an exact number of bytes from a stream of chunks. */
class StreamBytes implements ByteSource {
  readonly #stream: Readable;
  readonly #chunks: AsyncIterator<Buffer>;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#stream = stream;
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async read(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = bytes;
    while (missing > 0) {
      if (this.#buffer.length === 0) {
        const { done, value } = await this.#chunks.next();
        if (done) break;
        this.#buffer = value;
      }
      const part = this.#buffer.subarray(0, missing);
      this.#buffer = this.#buffer.subarray(part.length);
      missing -= part.length;
      parts.push(part);
    }
    const [only] = parts;
    return only && parts.length === 1 ? only : Buffer.concat(parts);
  }

  end(): void {
    this.#stream.destroy();
  }
}

/** A StreamBytes that also counts and hashes the bytes that were read. */
class FileBytes extends StreamBytes {
  readonly digest = new FileDigest();

  override async read(bytes: number): Promise<Buffer> {
    return this.digest.add(await super.read(bytes));
  }
}
