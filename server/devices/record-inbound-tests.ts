import type { Runtime } from '#server/database/runtime.ts';
import type { HandlerContext } from '#server/platform/http/route.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { type DeviceRow, storeReceivedTests } from './device-store.ts';
import { inboundTestsOf } from './inbound-tests.ts';

/**
 * Records the inbound tests that a received text passes (specification section 11.8). No statement runs if the phone
 * has passed these tests before. An error is only logged: the text is stored, and the phone should not send it again.
 * @param received names of the tests that the phone has passed before
 * @param withPermit runs the statement with a permit of the team
 */
export async function recordInboundTests(
  { database, logger }: Pick<Runtime, 'database' | 'logger'>,
  device: Pick<DeviceRow, 'team_id' | 'id'>,
  received: readonly string[],
  text: string,
  withPermit: HandlerContext['withPermit'],
): Promise<void> {
  const missing = inboundTestsOf(text).filter((name) => !received.includes(name));
  if (missing.length === 0) return;
  try {
    await withPermit(() => storeReceivedTests(database.pool, { ...device, names: missing }));
  } catch (error) {
    logger.warn(
      { err: error, deviceId: publicId('dev', device.id), tests: missing },
      'the inbound tests that a received text passed were not recorded',
    );
  }
}
