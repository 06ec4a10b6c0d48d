import { openRuntime } from '#server/app/open-runtime.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { given } from './given.ts';
import type { TestService } from './test-service.ts';

/** A second runtime on the database of a service, with its own connection pools, as another process has. */
export function givenRuntime(service: TestService): Runtime {
  return given(
    () => {
      const { config, logger, clock } = service.runtime;
      return openRuntime(config, service.databaseUrl, logger, clock);
    },
    ({ database }) => database.close(),
  );
}
