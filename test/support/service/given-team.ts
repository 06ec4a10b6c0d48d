import { plantCanary } from './canary.ts';
import { startTestService, type TestService, type TestTeam } from './test-service.ts';

export interface GivenTeam {
  readonly service: TestService;
  readonly team: TestTeam;
}

/** A service with one team. The suite closes the service. */
export async function givenTeam(settings: Readonly<Record<string, string>> = {}): Promise<GivenTeam> {
  const service = await startTestService(settings);
  return { service, team: await service.newTeam() };
}

/** A service with one team and the canary team, whose data no answer may contain. The suite closes the service. */
export async function givenTeamBesideCanary(
  settings: Readonly<Record<string, string>> = {},
): Promise<GivenTeam> {
  const service = await startTestService(settings);
  await plantCanary(service);
  return { service, team: await service.newTeam() };
}
