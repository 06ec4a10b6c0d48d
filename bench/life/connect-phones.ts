import { postJson } from '../load.ts';
import { bodyOf, RawConnection } from '../raw-connection.ts';

/** Concurrent requests while phones are set up. */
const clients = 8;

/** Phone numbers of a benchmark, at most 10,000. */
export function phoneNumbers(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `+1415556${String(n).padStart(4, '0')}`);
}

/** Creates setup links through the API and claims them. @returns the device tokens, in the order of the numbers */
export async function claimDevices(
  origin: string,
  key: string,
  numbers: readonly string[],
): Promise<string[]> {
  const verify = postJson(origin, '/v1/numbers/verify', { 'x-api-key': key });
  const claim = postJson(origin, '/v1/device/claim', {});
  const tokens: string[] = [];
  let next = 0;
  const client = async () => {
    const connection = new RawConnection(origin);
    const call = async (request: string) => {
      const answer = await connection.exchange(request);
      if (!answer.startsWith('HTTP/1.1 20')) throw new Error(`a phone could not be set up: ${answer}`);
      return JSON.parse(bodyOf(answer));
    };
    while (next < numbers.length) {
      const index = next;
      next += 1;
      const { setup_url } = await call(verify({ phone_number: numbers[index] }));
      tokens[index] = (await call(claim({ token: setup_url.split('/').at(-1) }))).device_token;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: clients }, client));
  return tokens;
}
