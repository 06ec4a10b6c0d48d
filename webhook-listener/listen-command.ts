import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Verdict, verifySignatures } from './verify-signatures.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Without a secret, signatures are not checked. */
  readonly secrets: readonly string[];
  /** The status for requests with valid signatures. A failure status makes Ownline retry. */
  readonly status: number;
  /** The number of requests after which the command ends. */
  readonly count: number | undefined;
  readonly write: (line: Readonly<Record<string, unknown>>) => void;
}

/** More than any event needs: 5,000 characters of content, each escaped, fit many times. */
const bodyMaxBytes = 1_048_576;

/** How many event ids are remembered to recognize repeats. */
const rememberedMax = 10_000;

/**
 * `ownline webhook listen`: a webhook receiver for a developer's machine. It shows each event and whether its
 * signatures are valid, and answers 401 if they are not. The command ends on an interrupt or after `count` requests.
 */
export async function listenForEvents(options: ListenOptions): Promise<void> {
  const seen = new Set<string>();
  const ended = new AbortController();
  let requests = 0;
  const server = createServer(async (request, response) => {
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined) return void request.destroy();
    const status = take(options, seen, request, body);
    requests += 1;
    const isLast = options.count !== undefined && requests >= options.count;
    response.writeHead(status, isLast ? { connection: 'close' } : {}).end(() => {
      if (isLast) ended.abort();
    });
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { address, family, port } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  options.write({
    did: 'listening',
    url: `http://${host}:${port}/`,
    // The setting that lets Ownline send to this private address. For an IP address the setting also permits http.
    setting: `EGRESS_ALLOW_CIDRS=${address}/${family === 'IPv6' ? 128 : 32}`,
  });
  process.once('SIGINT', () => ended.abort());
  process.once('SIGTERM', () => ended.abort());
  await once(ended.signal, 'abort');
  server.close();
  server.closeAllConnections();
}

/** Shows a request. @returns the status of the answer */
function take(
  { secrets, status, write }: ListenOptions,
  seen: Set<string>,
  request: IncomingMessage,
  body: Buffer,
): number {
  if (request.method !== 'POST') {
    write({ did: 'ignored', method: request.method, url: request.url });
    return 405;
  }
  const verdicts = verifySignatures(request.headers, body, secrets, Date.now());
  const event = parse(body);
  const id = typeof event?.id === 'string' ? event.id : '';
  const isGood = isFine(verdicts.service) && isFine(verdicts.standard);
  write({
    did: 'received',
    id,
    type: event?.type ?? '',
    service_signature: verdicts.service,
    webhook_signature: verdicts.standard,
    repeat: seen.has(id),
    test: request.headers['x-service-test'] === '1',
    answered: isGood ? status : 401,
    event: event ?? body.toString('utf8'),
  });
  if (seen.size >= rememberedMax) seen.clear();
  if (isGood && status < 300) seen.add(id);
  return isGood ? status : 401;
}

function isFine(verdict: Verdict): boolean {
  return verdict === 'valid' || verdict === 'unchecked';
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyMaxBytes) throw new Error('the body is too long for an event');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
