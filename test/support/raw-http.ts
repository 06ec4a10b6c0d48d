import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * Writes bytes as they are and reads until the server closes: for requests that no HTTP client would send.
 * A request that the server can read must ask for `connection: close` itself.
 */
export async function rawRequest(baseUrl: string, bytes: string | Uint8Array): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  const closed = new Promise<void>((resolve, reject) => {
    socket.once('close', () => resolve());
    socket.on('error', (error) => (parts.length > 0 ? resolve() : reject(error)));
  });
  socket.write(bytes);
  await closed;
  return readAnswer(Buffer.concat(parts).toString('utf8'));
}

function readAnswer(text: string): RawAnswer {
  const split = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, split).split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { status: Number(first.split(' ')[1]), headers: new Map(headers), body: text.slice(split + 4) };
}
