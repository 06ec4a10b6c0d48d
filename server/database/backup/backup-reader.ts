import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { BackupError, DamagedBackupError } from './backup-error.ts';
import {
  type BackupHeader,
  type ByteSource,
  formatVersion,
  frameBytes,
  hashBytes,
  type RecordKind,
  readExactly,
  readPrologue,
  recordKinds,
  recordMaxBytes,
  tagBytes,
} from './backup-format.ts';
import { parseHeader } from './backup-json.ts';
import { FrameSeal } from './frame-seal.ts';
import { openKey } from './passphrase.ts';

export interface BackupRecord {
  readonly kind: RecordKind;
  readonly payload: Buffer;
}

/** Size and hash of a file that was read to its end. */
export interface ReadBackup {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Reads a backup as a stream. A record is passed on only after its frames were checked; after the last record the whole
 * file was checked, its trailer and its end included.
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
   * @param passphrase undefined where none was given
   * @throws BackupError where it is no backup, is damaged, or needs another passphrase
   */
  static async open(input: Readable, passphrase: string | undefined): Promise<BackupReader> {
    const source = new FileBytes(input);
    const { json, hash } = await readPrologue(source);
    const header = parseHeader(json, formatVersion);
    if (header.encryption === null) {
      if (passphrase === undefined) return new BackupReader(header, source, new FrameSeal(hash, undefined));
      throw new BackupError(
        'The backup is not encrypted, and a passphrase was given. Leave the passphrase out if you expect that.',
      );
    }
    if (passphrase === undefined) {
      throw new BackupError(
        'The backup is encrypted. Name the file of its passphrase with --passphrase-file.',
      );
    }
    return new BackupReader(
      header,
      source,
      new FrameSeal(hash, await openKey(passphrase, header.encryption)),
    );
  }

  /** Every record in its order. @throws DamagedBackupError */
  async *records(): AsyncGenerator<BackupRecord> {
    const decompressor = createZstdDecompress();
    const filled = pipeline(() => this.#frames(), decompressor);
    filled.catch(() => undefined);
    const stream = new StreamBytes(decompressor);
    try {
      for (;;) {
        const head = await stream.read(5);
        if (head.length === 0) break;
        if (head.length < 5) throw new DamagedBackupError('a record ends too early');
        const kind = kindOf(head.readUInt8(0));
        const length = head.readUInt32BE(1);
        if (kind === undefined || length > recordMaxBytes) throw new DamagedBackupError('a record is none');
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

  /** After the last record. */
  read(): ReadBackup {
    return this.#source.passed();
  }

  async *#frames(): AsyncGenerator<Buffer> {
    for (;;) {
      const head = await readExactly(this.#source, 5);
      const isLast = head.readUInt8(0) === 1;
      const length = head.readUInt32BE(1);
      if (head.readUInt8(0) > 1 || length > frameBytes) throw new DamagedBackupError('a frame is none');
      const bytes = await readExactly(this.#source, length);
      const plain = this.#seal.open({ bytes, tag: await readExactly(this.#source, tagBytes) }, isLast);
      if (plain === undefined) throw new DamagedBackupError('a checksum in it is wrong');
      // The end of the last frame would end the decompressor, and with it the records: the trailer is judged before.
      if (isLast) await this.#checkTrailer();
      yield plain;
      if (isLast) return;
    }
  }

  async #checkTrailer(): Promise<void> {
    const expected = this.#source.digest();
    const trailer = await readExactly(this.#source, hashBytes);
    if (!trailer.equals(expected)) throw new DamagedBackupError('its checksum is wrong');
    if ((await this.#source.read(1)).length > 0) throw new DamagedBackupError('bytes follow its end');
  }
}

function kindOf(code: number): RecordKind | undefined {
  const found = Object.entries(recordKinds).find(([, value]) => value === code);
  return found?.[0] as RecordKind | undefined;
}

/** Frames are checked before they are decompressed, so that this is a fault of the writer; the reader says the same. */
function explainDecompression(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('ZSTD_') || code === 'Z_BUF_ERROR'
    ? new DamagedBackupError('it does not decompress', error)
    : error;
}

/** Takes bytes in any size from a stream. */
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

/** As StreamBytes, and hashes what was taken. */
class FileBytes implements ByteSource {
  readonly #stream: StreamBytes;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  constructor(input: Readable) {
    this.#stream = new StreamBytes(input);
  }

  async read(bytes: number): Promise<Buffer> {
    const taken = await this.#stream.read(bytes);
    this.#hash.update(taken);
    this.#bytes += taken.length;
    return taken;
  }

  digest(): Buffer {
    return this.#hash.copy().digest();
  }

  passed(): ReadBackup {
    return { bytes: this.#bytes, sha256: this.digest().toString('hex') };
  }

  end(): void {
    this.#stream.end();
  }
}
