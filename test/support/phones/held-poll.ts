import { findDeviceSession } from '#test/support/devices/stored-device-sessions.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import type { ConnectedNumber, DeviceWire, FlatAnswer } from './test-phone.ts';

/** Starts a poll and resolves once the server counts it as held. */
export async function heldPoll(
  service: TestService,
  number: ConnectedNumber,
  wire: DeviceWire = number.wire,
): Promise<{ answer: Promise<FlatAnswer>; leave: () => void; leaveNoticed: () => Promise<void> }> {
  const counted = async () => {
    const session = await findDeviceSession(service, number.phoneNumber);
    return session?.poll ?? 0;
  };
  const leaving = new AbortController();
  const before = await counted();
  const answer = wire.poll({}, leaving.signal);
  answer.catch(() => undefined);
  await until('the poll is counted', async () => (await counted()) > before);
  const leave = () => leaving.abort();
  // Until the server has noticed that the phone left, its poll may get a message.
  const leaveNoticed = async () => {
    leave();
    await until('the server noticed that the phone left', async () => {
      const session = await findDeviceSession(service, number.phoneNumber);
      return session?.hasLeft === true;
    });
  };
  return { answer, leave, leaveNoticed };
}
