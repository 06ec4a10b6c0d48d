import type { Runtime } from '#server/database/runtime.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import { purgeSetupLinks } from './setup-link.ts';

/** Phones with their tokens and setup links. */
export function openDevices(services: Runtime): Slice {
  return {
    jobs: [sweep('maintain', 'purge setup links', 3_600_000, 'expires', () => purgeSetupLinks(services))],
  };
}
