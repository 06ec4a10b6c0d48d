import { itemsOf } from '../api.ts';
import { Connection } from './connection.ts';
import type { Tenant } from './tenant.ts';

/** The outcome of a long poll that is held while the service disconnects slow readers. */
export interface HeldPoll {
  /** The HTTP status; 0 if the connection was closed. */
  readonly status: number;
  readonly seconds: number;
}

/**
 * How long the service holds a long poll in this campaign. That is longer than the time after which slow readers are
 * disconnected.
 */
export const heldSeconds = 45;
const answerWithinMs = 70_000;

/** Runs a phone's long poll. Its number is paused, so that no message ends the poll. */
export async function runHeldPoll(tenant: Tenant, port: number): Promise<HeldPoll> {
  const { api, credentials } = tenant;
  const [number] = itemsOf(await api.get('/v1/numbers'), 'numbers');
  const setStatus = (status: string) =>
    api.insist({ method: 'PUT', path: `/v1/numbers/${number?.id}`, body: { status } });
  await setStatus('paused');
  const body = '{"session":"new","v":"1"}';
  const head = [
    ...['POST /v1/device/poll HTTP/1.1', `host: 127.0.0.1:${port}`, 'content-type: application/json'],
    ...[`x-device-token: ${credentials.deviceToken}`, `content-length: ${body.length}`],
  ];
  const connection = await Connection.open({ port });
  const startedMs = performance.now();
  const seconds = () => (performance.now() - startedMs) / 1_000;
  try {
    const request = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
    const { status } = await connection.ask(request, answerWithinMs);
    return { status, seconds: seconds() };
  } catch {
    return { status: 0, seconds: seconds() };
  } finally {
    connection.close();
    await setStatus('active');
  }
}
