import type { Runtime } from '#server/database/runtime.ts';
import { type DeviceRow, storeReceivedTests } from './device-store.ts';
import { inboundTestsOf } from './inbound-tests.ts';

/**
 * Records the inbound tests that a received text passes (specification section 11.8). A phone that has passed them
 * already costs no statement.
 */
export async function recordInboundTests(
  { database }: Pick<Runtime, 'database'>,
  device: DeviceRow,
  text: string,
): Promise<void> {
  const missing = inboundTestsOf(text).filter((name) => !device.received_tests.includes(name));
  if (missing.length > 0) await storeReceivedTests(database.pool, device, missing);
}
