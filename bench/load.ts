import { RawConnection } from './raw-connection.ts';

export interface Load {
  readonly origin: string;
  /** The n-th request as raw HTTP in ASCII. */
  readonly request: (n: number) => string;
  readonly connections: number;
  readonly seconds: number;
}

/** Builds raw HTTP of POST requests with JSON. A single request may add headers. */
export function postJson(
  origin: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): (body: unknown, ofRequest?: Readonly<Record<string, string>>) => string {
  const all = { host: new URL(origin).host, 'content-type': 'application/json', ...headers };
  const head = `POST ${path} HTTP/1.1\r\n${lines(all)}content-length: `;
  return (body, ofRequest = {}) => {
    const json = JSON.stringify(body);
    return `${head}${json.length}\r\n${lines(ofRequest)}\r\n${json}`;
  };
}

function lines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/**
 * Load generator: each connection sends its next request as soon as it has the answer. It only writes bytes and finds
 * the end of an answer. A full HTTP client would use as much CPU as the server.
 * @returns answers per second
 * @throws Error for an answer other than 202
 */
export async function measure(load: Load): Promise<number> {
  let sent = 0;
  let answered = 0;
  const started = performance.now();
  const until = started + load.seconds * 1_000;
  const client = async () => {
    const connection = new RawConnection(load.origin);
    try {
      while (performance.now() < until) {
        sent += 1;
        const answer = await connection.exchange(load.request(sent));
        if (!answer.startsWith('HTTP/1.1 202 '))
          throw new Error(`${load.origin} did not accept a send: ${answer}`);
        answered += 1;
      }
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: load.connections }, client));
  return answered / ((performance.now() - started) / 1_000);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
