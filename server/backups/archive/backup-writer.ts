import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, type ZstdCompress } from 'node:zlib';
import {
  type BackupHeader,
  encodeLength,
  encodePrologue,
  FileDigest,
  type FileFigures,
  frameBytes,
  type RecordKind,
  recordKinds,
} from './backup-format.ts';
import { FrameSeal } from './backup-seal.ts';

/** Writes a backup as a stream: its memory does not grow with the size of the backup (decision 0037). */
export class BackupWriter {
  readonly #compressor: ZstdCompress;
  readonly #written: Promise<void>;
  readonly #digest = new FileDigest();

  /** @param key undefined: the backup is not encrypted */
  constructor(destination: Writable, header: BackupHeader, key: Buffer | undefined) {
    this.#compressor = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 3 } });
    // If the destination failed, `#written` rejects with the reason, so the compressor's own error is ignored.
    this.#compressor.on('error', () => undefined);
    const prologue = encodePrologue(header);
    const seal = new FrameSeal(prologue.hash, key);
    this.#written = pipeline(
      this.#compressor,
      (compressed: AsyncIterable<Buffer>) => encode(this.#digest, prologue.bytes, cut(compressed), seal),
      destination,
    );
    this.#written.catch(() => undefined);
  }

  /** Resolves once the next record may be written. @throws the error of the destination stream */
  async write(kind: RecordKind, payload: Buffer): Promise<void> {
    const head = Buffer.concat([Buffer.from([recordKinds[kind]]), encodeLength(payload.length)]);
    this.#compressor.write(head);
    if (this.#compressor.write(payload)) return;
    await Promise.race([once(this.#compressor, 'drain'), this.#written]);
  }

  writeJson(kind: RecordKind, value: object): Promise<void> {
    return this.write(kind, Buffer.from(JSON.stringify(value)));
  }

  /** Ends the backup. Resolves once the destination has taken all bytes. */
  async finish(): Promise<FileFigures> {
    this.#compressor.end();
    await this.#written;
    return this.#digest.figures();
  }

  /** Stops writing, so that the file stays incomplete. */
  async abort(error: Error): Promise<void> {
    this.#compressor.destroy(error);
    await this.#written.catch(() => undefined);
  }
}

async function* encode(
  digest: FileDigest,
  prologue: Buffer,
  frames: AsyncIterable<{ readonly plain: Buffer; readonly isLast: boolean }>,
  seal: FrameSeal,
): AsyncGenerator<Buffer> {
  yield digest.add(prologue);
  for await (const { plain, isLast } of frames) {
    const { bytes, tag } = seal.seal(plain, isLast);
    yield digest.add(Buffer.concat([Buffer.from([isLast ? 1 : 0]), encodeLength(bytes.length), bytes, tag]));
  }
  yield digest.add(digest.hash());
}

/** Cuts a stream into frames of one size; the last one may be shorter. */
async function* cut(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<{ readonly plain: Buffer; readonly isLast: boolean }> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (let bytes of source) {
    while (length + bytes.length > frameBytes) {
      const rest = frameBytes - length;
      yield { plain: Buffer.concat([...parts, bytes.subarray(0, rest)]), isLast: false };
      bytes = bytes.subarray(rest);
      parts = [];
      length = 0;
    }
    parts.push(bytes);
    length += bytes.length;
  }
  yield { plain: Buffer.concat(parts), isLast: true };
}
