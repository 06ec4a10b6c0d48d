import { Connection } from './connection.ts';
import { applyLoad } from './load.ts';

/** The answer to a valid key that this process has not seen, after many wrong keys from its address. */
export interface SharedAddress {
  readonly wrongKeys: number;
  readonly status: number;
}

/** More wrong keys than one client network may try in a minute. */
const wrongKeys = 300;

/** Goal R1: strangers behind a shared address, such as a proxy's, must not cause refusals of valid keys. */
export async function runSharedAddress(
  { port, wrongKey, goodKey }: { readonly port: number; readonly wrongKey: string; readonly goodKey: string },
  signal: AbortSignal,
): Promise<SharedAddress> {
  const request = (key: string) =>
    Buffer.from(`GET /v1/team HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-api-key: ${key}\r\n\r\n`);
  const wrong = request(wrongKey);
  await applyLoad({ port, connections: 8, requests: wrongKeys, request: () => wrong, signal });
  const connection = await Connection.open({ port });
  try {
    const { status } = await connection.ask(request(goodKey), 10_000);
    return { wrongKeys, status };
  } finally {
    connection.close();
  }
}
