import { createSocket } from 'node:dgram';
import { bytesOfAddress } from '#server/platform/network/ip-address.ts';

/** Answer to a query: addresses of the queried family, an error, or none. */
export type DnsAnswer =
  | { readonly addresses: readonly string[]; readonly ttlSeconds?: number; readonly afterMs?: number }
  | 'no such name'
  | 'server failure'
  | 'silence';

export type DnsServer = Awaited<ReturnType<typeof startDnsServer>>;

const types: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };
const codes = { 'no such name': 3, 'server failure': 2 } as const;

/** Starts a name server on a real UDP port. @param answer is called for every question */
export async function startDnsServer(answer: (name: string) => DnsAnswer) {
  const questions: string[] = [];
  let isClosed = false;
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query);
    questions.push(`${type} ${name}`);
    const said = answer(name);
    if (said === 'silence') return;
    const records = typeof said === 'string' ? [] : recordsOf(said, type);
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    // Flags: an answer, recursion desired and available, and the error code.
    head.writeUInt16BE(0x8180 | (typeof said === 'string' ? codes[said] : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    const send = () => {
      if (!isClosed) socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), port, address);
    };
    // A delayed answer simulates a resolver that has to query further.
    if (typeof said !== 'string' && said.afterMs !== undefined) setTimeout(send, said.afterMs);
    else send();
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    /** Address for a resolver, `127.0.0.1:53535`. */
    address: `127.0.0.1:${socket.address().port}`,
    /** Questions so far, as `A receiver.example.com`. */
    questions,
    close: () => {
      isClosed = true;
      return new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const number = query.readUInt16BE(at + 1);
  return { name: labels.join('.').toLowerCase(), type: types[number] ?? String(number), end: at + 5 };
}

function recordsOf(
  { addresses, ttlSeconds = 0 }: Exclude<DnsAnswer, string>,
  type: string,
): readonly Buffer[] {
  return addresses.flatMap((address) => {
    const bytes = bytesOfAddress(address);
    if (!bytes || (bytes.length === 4) !== (type === 'A')) return [];
    const record = Buffer.alloc(12);
    // The name is a pointer to the query's name in the message.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type === 'A' ? 1 : 28, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(ttlSeconds, 6);
    record.writeUInt16BE(bytes.length, 10);
    return [Buffer.concat([record, bytes])];
  });
}
