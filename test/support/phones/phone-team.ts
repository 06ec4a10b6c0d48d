import { givenTeam } from '#test/support/service/given-team.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
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
