import { claimDevice } from '#simulated-phone/device-client.ts';
import { SimulatedPhone } from '#simulated-phone/simulated-phone.ts';
import type { ApiClient } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';

type OnLine = ConstructorParameters<typeof SimulatedPhone>[0]['onLine'];

/** Starts a simulated phone for each number of a team that has no others, and waits until all are verified. */
export async function startPhones(
  api: ApiClient,
  numbers: readonly string[],
  onLine?: OnLine,
): Promise<SimulatedPhone[]> {
  const phones: SimulatedPhone[] = [];
  for (const number of numbers) {
    const { setup_url } = (await api.post('/v1/numbers/verify', { phone_number: number })).json;
    const phone = new SimulatedPhone({
      ...(await claimDevice(String(setup_url))),
      ...(onLine && { onLine }),
    });
    phones.push(phone);
    void phone.run();
  }
  await until('all numbers are verified', async () => {
    const listed = (await api.get('/v1/numbers')).json.numbers as readonly { verified: boolean }[];
    return listed.length === numbers.length && listed.every(({ verified }) => verified);
  });
  return phones;
}
