import type { OutboundHttpOptions } from '#server/platform/outbound-http/outbound-http.ts';
import { plantCanary } from './canary.ts';
import { given } from './given.ts';
import { startTestService, type TestService, type TestTeam } from './test-service.ts';

// Called in the body of `describe`, these functions make a service before the suite and close it afterwards.

interface GivenTeam {
  readonly service: TestService;
  readonly team: TestTeam;
}

/** A service. `settings` are those of startTestService. */
export function givenService(
  settings: Readonly<Record<string, string>> = {},
  outbound: Partial<OutboundHttpOptions> = {},
): TestService {
  return given(() => startTestService(settings, outbound));
}

/** A service with one team. */
export function givenTeam(settings: Readonly<Record<string, string>> = {}): GivenTeam {
  const service = givenService(settings);
  return { service, team: given(() => service.newTeam()) };
}

/** A service with one team and the canary team, whose data no answer may contain. */
export function givenTeamBesideCanary(settings: Readonly<Record<string, string>> = {}): GivenTeam {
  const service = givenService(settings);
  given(() => plantCanary(service));
  return { service, team: given(() => service.newTeam()) };
}
