import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { makeOnce } from '#server/platform/concurrency/single-flight-query.ts';
import type { Answer } from './route.ts';

/** Content that is the same for all callers and never changes while the process runs. */
export interface StaticContent {
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Contains Content-Type at least; a Cache-Control replaces the default `no-cache`. */
  readonly headers: Readonly<Record<string, string>>;
}

type Coding = 'br' | 'gzip' | 'identity';

interface Representation {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Content below this size is sent uncompressed. */
const compressedMinBytes = 1_024;

/**
 * Content above this size is sent compressed only, because writing 4 MB to a socket blocks the event loop for more than
 * 1 ms. Every browser reads gzip, and RFC 9110, section 12.5.3 lets a server ignore Accept-Encoding.
 */
const identityMaxBytes = 1_024 * 1_024;

/** A longer Accept-Encoding header is cut to this length. */
const acceptEncodingMaxCharacters = 256;

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/**
 * Static content, prepared once and kept as Buffers that all responses share: Brotli, gzip and uncompressed, each with
 * a strong ETag. The first request prepares them (single flight), on zlib's thread pool.
 */
export class StaticAnswer {
  readonly #prepare: () => Promise<ReadonlyMap<Coding, Representation>>;

  constructor(make: () => Promise<StaticContent>) {
    this.#prepare = makeOnce(async () => represent(await make()));
  }

  /** @returns 200 with the representation that fits Accept-Encoding, or 304 if If-None-Match has its ETag */
  async answer({ headers }: Pick<FastifyRequest, 'headers'>): Promise<Answer> {
    const representations = await this.#prepare();
    const coding = chooseCoding(String(headers['accept-encoding'] ?? ''), [...representations.keys()]);
    const representation = representations.get(coding);
    if (!representation) throw new Error(`no cached response exists for the content coding ${coding}`);
    const { 'if-none-match': known } = headers;
    const { etag = '', ...rest } = representation.headers;
    if (known === undefined || (known.trim() !== '*' && !known.includes(etag))) {
      return { body: representation.body, headers: representation.headers };
    }
    const { 'content-type': _type, 'content-encoding': _coding, ...kept } = rest;
    return { status: 304, body: undefined, headers: { etag, ...kept } };
  }
}

async function represent({ body, headers }: StaticContent): Promise<ReadonlyMap<Coding, Representation>> {
  const identity =
    typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const codings: Coding[] = identity.length < compressedMinBytes ? [] : ['br', 'gzip'];
  if (identity.length <= identityMaxBytes) codings.push('identity');
  const representations = new Map<Coding, Representation>();
  for (const coding of codings) {
    const bytes = await encode(identity, coding);
    representations.set(coding, {
      body: bytes,
      headers: {
        'cache-control': 'no-cache',
        ...headers,
        ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
        etag: `"${await hashOf(bytes)}"`,
        vary: 'accept-encoding',
      },
    });
  }
  return representations;
}

/** SHA-256 on the thread pool, because it takes milliseconds for 1 MB. */
async function hashOf(bytes: Buffer<ArrayBuffer>): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('base64url');
}

function encode(
  bytes: Buffer<ArrayBuffer>,
  coding: Coding,
): Promise<Buffer<ArrayBuffer>> | Buffer<ArrayBuffer> {
  if (coding === 'identity') return bytes;
  if (coding === 'gzip') return compressors.gzip(bytes, { level: constants.Z_BEST_COMPRESSION });
  // Quality 9 takes a tenth of the time of 10 and 11; its result is at most a tenth larger.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return compressors.br(bytes, { params });
}

/**
 * Chooses the coding with the highest weight in Accept-Encoding; among equals the first one.
 * @param kept the available codings in order of preference; the last one is sent if the client accepts none
 */
function chooseCoding(accepted: string, kept: readonly Coding[]): Coding {
  const weights = readWeights(accepted.slice(0, acceptEncodingMaxCharacters));
  let chosen = kept.at(-1) ?? 'identity';
  let chosenWeight = 0;
  for (const coding of kept) {
    const weight = weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? Number.MIN_VALUE : 0);
    if (weight > chosenWeight) {
      chosen = coding;
      chosenWeight = weight;
    }
  }
  return chosen;
}

/** Parses `br, gzip;q=0.5` into weights by coding. */
function readWeights(accepted: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(coding, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  return weights;
}
