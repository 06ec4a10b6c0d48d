import { givenTeam } from '#test/support/service/given-team.ts';
import { DirectPhone } from './direct-phone.ts';
import { type ConnectedNumber, connectNumber } from './test-phone.ts';

/** A service that holds polls for 25 s, which tests pass by moving the clock, and a team that connects phones to it. */
export function givenPhoneTeam() {
  const { service, team } = givenTeam({ DEVICE_HOLD_SECONDS: '25' });
  return {
    service,
    team,
    connect: () => connectNumber(service, team),
    /** Sends a message from the number. @returns the id of the message */
    send: ({ phoneNumber }: ConnectedNumber, content: string) =>
      team.api.send({ from: phoneNumber, to: '+12125550100', content }),
    messageOf: async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json,
  };
}

export const contactAt = (index: number) => `+1212555${String(index).padStart(4, '0')}`;

/**
 * A service with PACING=gentle and without sweeps, so that messages change by polls only, and a team that connects
 * phones to it.
 */
export function givenPacedTeam() {
  const { service, team } = givenTeam({ ROLES: 'api', PACING: 'gentle', DEVICE_HOLD_SECONDS: '50' });
  const setPacing = async ({ numberId }: ConnectedNumber, pacing: object | null) => {
    const answer = await team.api.put(`/v1/numbers/${numberId}`, { pacing });
    if (answer.status !== 200)
      throw new Error(`the change of pacing was answered ${answer.status}: ${answer.text}`);
  };
  return {
    service,
    team,
    setPacing,
    /** Connects a number with its phone. @param pacing of the number; undefined for the service's */
    connect: async (pacing?: object) => {
      const number = await connectNumber(service, team);
      if (pacing) await setPacing(number, pacing);
      return { number, phone: await DirectPhone.of(service, number) };
    },
    /** Sends a message to the contact of this index. @returns the id of the message */
    send: ({ phoneNumber }: ConnectedNumber, contact: number, content = 'Hello') =>
      team.api.send({ from: phoneNumber, to: contactAt(contact), content }),
  };
}
