import { claimDevice } from '#simulated-phone/device-client.ts';
import { ApiClient } from '#test/support/service/api-client.ts';

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
  const api = new ApiClient(origin, key);
  const tokens: string[] = [];
  let next = 0;
  const client = async () => {
    while (next < numbers.length) {
      const index = next;
      next += 1;
      const made = await api.post('/v1/numbers/verify', { phone_number: numbers[index] });
      tokens[index] = (await claimDevice(String(made.json.setup_url))).deviceToken;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return tokens;
}
