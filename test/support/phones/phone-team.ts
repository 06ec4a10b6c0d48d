import { givenTeam } from '#test/support/service/given-team.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import { DirectPhone } from './direct-phone.ts';
import { type ConnectedNumber, connectNumber } from './test-phone.ts';

/** A service that holds polls for 25 s, which tests pass by moving the clock, and a team that connects phones to it. */
export interface PhoneTeam {
  readonly service: TestService;
  readonly team: TestTeam;
  readonly connect: () => Promise<ConnectedNumber>;
  /** Sends a message from the number. @returns the id of the message */
  readonly send: (number: ConnectedNumber, content: string, to?: string) => Promise<string>;
  readonly messageOf: (id: string) => Promise<Record<string, unknown>>;
}

export function givenPhoneTeam(): PhoneTeam {
  const { service, team } = givenTeam({ DEVICE_HOLD_SECONDS: '25' });
  return {
    service,
    team,
    connect: () => connectNumber(service, team),
    send: ({ phoneNumber }, content, to = '+12125550100') =>
      team.api.send({ from: phoneNumber, to, content }),
    messageOf: async (id) => (await team.api.get(`/v1/messages/${id}`)).json,
  };
}

/**
 * A service with PACING=gentle and without sweeps, so that messages change by polls only, and a team that connects
 * phones to it.
 */
export interface PacedTeam {
  readonly service: TestService;
  readonly team: TestTeam;
  /** Connects a number with its phone. @param pacing of the number; undefined for the service's */
  readonly connect: (
    pacing?: object,
  ) => Promise<{ readonly number: ConnectedNumber; readonly phone: DirectPhone }>;
  readonly setPacing: (number: ConnectedNumber, pacing: object | null) => Promise<void>;
  /** Sends a message to the contact of this index. @returns the id of the message */
  readonly send: (number: ConnectedNumber, contact: number, content?: string) => Promise<string>;
}

export const contactAt = (index: number) => `+1212555${String(index).padStart(4, '0')}`;

export function givenPacedTeam(): PacedTeam {
  const { service, team } = givenTeam({ ROLES: 'api', PACING: 'gentle', DEVICE_HOLD_SECONDS: '50' });
  const setPacing: PacedTeam['setPacing'] = async ({ numberId }, pacing) => {
    const answer = await team.api.put(`/v1/numbers/${numberId}`, { pacing });
    if (answer.status !== 200)
      throw new Error(`the change of pacing was answered ${answer.status}: ${answer.text}`);
  };
  return {
    service,
    team,
    setPacing,
    connect: async (pacing) => {
      const number = await connectNumber(service, team);
      if (pacing) await setPacing(number, pacing);
      return { number, phone: await DirectPhone.of(service, number) };
    },
    send: ({ phoneNumber }, contact, content = 'Hello') =>
      team.api.send({ from: phoneNumber, to: contactAt(contact), content }),
  };
}
