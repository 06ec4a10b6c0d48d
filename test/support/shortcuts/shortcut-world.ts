import { findDeviceSession } from '#test/support/devices/stored-devices.ts';
import { claim, type DeviceWire, findNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { startFlakyProxy } from '#test/support/proxies/flaky-proxy.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { ShortcutPhone, setupCodeOf } from './shortcut-phone.ts';

/** A number with the iPhone that was set up for it. */
export interface ShortcutLine {
  readonly phoneNumber: string;
  readonly numberId: string;
  readonly wire: DeviceWire;
  readonly phone: ShortcutPhone;
}

/** A service behind a proxy, a team, and iPhones with the shortcuts. */
export type ShortcutWorld = Awaited<ReturnType<typeof startShortcutWorld>>;

/** Time after which a session without polls has ended, and its message may no longer be reported. */
const afterTheGraceMs = 181_000;

export async function startShortcutWorld() {
  const service = await startTestService();
  const proxy = await startFlakyProxy(service.baseUrl);
  const team = await service.newTeam();
  const phones: ShortcutPhone[] = [];
  const newLine = async (
    options: Partial<ConstructorParameters<typeof ShortcutPhone>[0]> = {},
  ): Promise<ShortcutLine> => {
    const phoneNumber = newPhoneNumber();
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
    const wire = await claim(team.api, String(verify.json.setup_url));
    const phone = new ShortcutPhone({ setupCode: setupCodeOf(proxy.url, wire.token), ...options });
    phones.push(phone);
    const numberId = String((await findNumber(team.api, phoneNumber))?.id);
    return { phoneNumber, numberId, wire, phone };
  };
  const switchOffPhones = async () => {
    for (const phone of phones.splice(0)) await phone.switchOff();
  };
  const untilVerified = ({ phoneNumber }: Pick<ShortcutLine, 'phoneNumber'>) =>
    until('the number is verified', async () => (await findNumber(team.api, phoneNumber))?.verified === true);
  const messageOf = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json;
  return {
    service,
    team,
    proxy,
    /** Makes a number that no phone has polled for, and an iPhone with its token. */
    newLine,
    /** Makes a number and an iPhone on which Outbox runs. */
    runningLine: async () => {
      const line = await newLine();
      const run = line.phone.startOutbox();
      await untilVerified(line);
      return { ...line, run };
    },
    /**
     * Starts the shortcut again, after the time in which the old session lives and its message may be reported. Resolves
     * once a new session has begun.
     */
    restart: async ({ phone, phoneNumber }: ShortcutLine) => {
      const session = async () => (await findDeviceSession(service, phoneNumber))?.sessionId;
      const before = await session();
      let ended = true;
      await until('a new session has begun', async () => {
        if (ended) {
          ended = false;
          service.clock.advance(afterTheGraceMs);
          void phone.startOutbox().then(() => {
            ended = true;
          });
        }
        return (await session()) !== before;
      });
    },
    untilVerified,
    send: ({ phoneNumber }: Pick<ShortcutLine, 'phoneNumber'>, content: string) =>
      team.api.send({ from: phoneNumber, to: '+12125550100', content }),
    messageOf,
    untilStatus: (id: string, status: string) =>
      until(`the message is ${status}`, async () => (await messageOf(id)).status === status),
    switchOffPhones,
    close: async () => {
      await switchOffPhones();
      await proxy.close();
      await service.close();
    },
  };
}
