import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

interface RawOptions {
  /**
   * Half-closes the connection after writing, for an incomplete request. Node would not answer a complete request on a
   * half-closed connection.
   */
  readonly halfClose?: boolean;
  /** Bytes that are written once an answer has begun to arrive. */
  readonly later?: string;
}

/** A server that neither answers nor closes within this time fails the test. */
const limitMs = 10_000;

/** Writes raw bytes and reads until the server closes. A valid request must have `connection: close`. */
export async function rawRequest(
  baseUrl: string,
  bytes: string | Uint8Array,
  options: RawOptions = {},
): Promise<RawAnswer> {
  const text = (await readToEnd(baseUrl, bytes, options)).toString('utf8');
  const split = text.indexOf('\r\n\r\n');
  return { ...readHead(text.slice(0, split)), body: text.slice(split + 4) };
}

/** Writes several requests at once. @returns their answers in order; not for HEAD, whose answers have no body */
export async function rawExchange(
  baseUrl: string,
  bytes: string | Uint8Array,
  options: RawOptions = {},
): Promise<RawAnswer[]> {
  let left = await readToEnd(baseUrl, bytes, options);
  const answers: RawAnswer[] = [];
  while (left.length > 0) {
    const split = left.indexOf('\r\n\r\n');
    const head = readHead(left.subarray(0, split).toString('latin1'));
    // The interim response 100 Continue is skipped.
    const isAnswer = head.status !== 100;
    const end = split + 4 + (isAnswer ? Number(head.headers.get('content-length') ?? Number.NaN) : 0);
    if (split < 0 || !(end <= left.length))
      throw new Error(`the answer is incomplete: ${left.toString('latin1')}`);
    if (isAnswer) answers.push({ ...head, body: left.subarray(split + 4, end).toString('utf8') });
    left = left.subarray(end);
  }
  return answers;
}

async function readToEnd(
  baseUrl: string,
  bytes: string | Uint8Array,
  { halfClose = false, later }: RawOptions,
): Promise<Buffer> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: halfClose });
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  if (later !== undefined) socket.once('data', () => socket.write(later));
  const closed = new Promise<void>((resolve, reject) => {
    socket.once('close', () => resolve());
    socket.once('end', () => socket.end());
    socket.on('error', (error) => (parts.length > 0 || halfClose ? resolve() : reject(error)));
    socket.setTimeout(limitMs, () => {
      reject(
        new Error(
          `the server neither answered this request nor closed its connection: ${Buffer.from(bytes).toString('latin1')}`,
        ),
      );
      socket.destroy();
    });
  });
  if (halfClose) socket.end(bytes);
  else socket.write(bytes);
  await closed;
  return Buffer.concat(parts);
}

function readHead(text: string): Pick<RawAnswer, 'status' | 'headers'> {
  const [first = '', ...lines] = text.split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { status: Number(first.split(' ')[1]), headers: new Map(headers) };
}
