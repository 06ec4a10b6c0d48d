import { sha256 } from '#server/platform/crypto.ts';
import type { DeviceCaller } from '#server/platform/http/route.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import { DirectPhone } from './direct-phone.ts';
import { type ConnectedNumber, connectNumber } from './test-phone.ts';

/** One of many phones of a team. */
export interface OneOfMany {
  readonly number: ConnectedNumber;
  readonly phone: DirectPhone;
  /** A contact that no other phone of the test file writes to. */
  readonly contact: string;
  /** The phone as the caller of its requests. */
  readonly caller: DeviceCaller;
}

/** Connects as many new numbers with their phones. */
export function connectMany(service: TestService, team: TestTeam, count: number): Promise<OneOfMany[]> {
  const connect = async (): Promise<OneOfMany> => {
    const number = await connectNumber(service, team);
    const phone = await DirectPhone.of(service, number);
    const { teamId, deviceId, numberId } = phone.session;
    const { phoneNumber, wire } = number;
    return {
      number,
      phone,
      contact: phoneNumber.replace('+1415', '+1212'),
      caller: {
        ...{ teamId, deviceId, numberId, phoneNumber, tokenHash: sha256(wire.token) },
        ...{ isPoll: true, isOverLimit: false, endToken: () => undefined },
      },
    };
  };
  return Promise.all(Array.from({ length: count }, connect));
}

/** Sends a message from each phone's number to its contact. @returns the ids, in the order of the phones */
export function sendFromEach(
  team: TestTeam,
  phones: readonly OneOfMany[],
  content: string,
): Promise<string[]> {
  return Promise.all(
    phones.map(({ number, contact }) =>
      team.api.send({ from: number.phoneNumber, to: contact, content: `${content} ${contact}` }),
    ),
  );
}
