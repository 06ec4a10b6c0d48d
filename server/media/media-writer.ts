import { createHash } from 'node:crypto';
import { mediaMaxBytes } from '#contract/media.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { MediaId, MessageId, TeamId } from '#server/platform/ids.ts';
import { mediaChunkBytes } from './limits.ts';
import { appendMediaChunk, createMediaFile, type MediaFileKey } from './media-store.ts';
import { isSendable, mediaName, sniffMediaType } from './media-type.ts';

/** Reason why a file was refused. `removed`: the file was deleted because its message left the queue. */
export type MediaProblem = 'empty' | 'too_large' | 'unsupported_type' | 'removed';

/** A file whose bytes are all stored, but which is not complete yet. */
export interface WrittenMedia extends MediaFileKey {
  readonly name: string;
  readonly type: string;
  readonly sizeBytes: number;
  readonly sha256: Buffer;
}

interface MediaTarget {
  readonly teamId: TeamId;
  readonly messageId: MessageId | MediaId;
  /** The sender's name for the file. */
  readonly wantedName: string | undefined;
  /** True for a file that an iPhone has to send. */
  readonly isOutbound?: boolean;
  /** Until when an uploaded file is kept. */
  readonly expiresAt?: Date;
}

/**
 * Stores the file of a message as its bytes arrive: detects the type from the first chunk, counts and hashes the bytes.
 * The writer holds one chunk in memory, and no transaction is open between chunks. Readers do not find the file before
 * `completeMediaFile`. If the writer dies, a purge removes the file.
 */
export class MediaWriter {
  readonly #services: Runtime;
  readonly #target: MediaTarget;
  readonly #hash = createHash('sha256');
  #buffer: Buffer | undefined;
  #buffered = 0;
  #sizeBytes = 0;
  #chunks = 0;
  #file: Pick<WrittenMedia, keyof MediaFileKey | 'name' | 'type'> | undefined;
  #problem: MediaProblem | undefined;

  constructor(services: Runtime, target: MediaTarget) {
    this.#services = services;
    this.#target = target;
  }

  /** The reason of the refusal; undefined for a file that is not refused. */
  get problem(): MediaProblem | undefined {
    return this.#problem;
  }

  /**
   * Writes the next bytes. The bytes are copied, so the caller may reuse the buffer once the promise resolves.
   * @returns false for a refused file, which needs no more bytes
   */
  async write(bytes: Uint8Array): Promise<boolean> {
    if (this.#problem) return false;
    this.#sizeBytes += bytes.length;
    if (this.#sizeBytes > mediaMaxBytes) return this.#refuse('too_large');
    for (let taken = 0; taken < bytes.length; ) {
      this.#buffer ??= Buffer.allocUnsafeSlow(mediaChunkBytes);
      const part = bytes.subarray(taken, taken + mediaChunkBytes - this.#buffered);
      // Hashed part by part: hashing 5 MB at once blocks the event loop.
      this.#hash.update(part);
      this.#buffer.set(part, this.#buffered);
      this.#buffered += part.length;
      taken += part.length;
      if (this.#buffered === mediaChunkBytes && !(await this.#flush())) return false;
    }
    return true;
  }

  /** Writes the rest of the file. @returns the stored file, or the reason of its refusal */
  async end(): Promise<WrittenMedia | MediaProblem> {
    if (this.#sizeBytes === 0) this.#refuse('empty');
    if (!this.#problem && this.#buffered > 0) await this.#flush();
    if (this.#problem) return this.#problem;
    if (!this.#file) throw new Error('bytes of a media file were written without a row for the file');
    return { ...this.#file, sizeBytes: this.#sizeBytes, sha256: this.#hash.digest() };
  }

  async #flush(): Promise<boolean> {
    const { database } = this.#services;
    const data = (this.#buffer ?? Buffer.alloc(0)).subarray(0, this.#buffered);
    this.#file ??= await this.#begin(data);
    if (!this.#file) return this.#refuse('unsupported_type');
    const isWanted = await appendMediaChunk(database.pool, { ...this.#file, position: this.#chunks, data });
    this.#chunks += 1;
    this.#buffered = 0;
    return isWanted || this.#refuse('removed');
  }

  async #begin(head: Buffer) {
    const found = await sniffMediaType(head);
    const { teamId, messageId, wantedName, isOutbound = false, expiresAt = null } = this.#target;
    if (!found || (isOutbound && !isSendable(found.type))) return undefined;
    const name = mediaName(wantedName, found.extension);
    const at = this.#services.clock.now();
    const { type } = found;
    const file = { teamId, messageId, name, type, at, expiresAt };
    return { name, type, ...(await createMediaFile(this.#services.database.pool, file)) };
  }

  #refuse(problem: MediaProblem): false {
    this.#problem = problem;
    this.#buffer = undefined;
    return false;
  }
}
