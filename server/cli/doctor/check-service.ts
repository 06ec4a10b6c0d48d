import { isIPv6 } from 'node:net';
import type { ReadinessDetails } from '#server/operations/health-routes.ts';
import { addressRecord } from '#server/operations/recorded-address.ts';
import type { Config } from '#server/platform/config.ts';
import { startCommand } from '#server/platform/process/product-version.ts';
import type { AddressSource } from '../command-context.ts';
import { type Check, failed, ok, warning } from './check.ts';
import { type Answered, send } from './public-client.ts';

const timeoutMs = 10_000;

/**
 * Requests the readiness of the service at HOST and PORT; with METRICS_TOKEN also the health of its background jobs.
 * Each message names the origin of the address.
 */
export async function checkService(config: Config, addressSource: AddressSource) {
  const { metricsToken } = config;
  const listener = `${config.host}:${config.port}`;
  const source = sourceSentence(config, addressSource);
  const url = `http://${localHost(config.host)}:${config.port}/readyz`;
  const headers: Record<string, string> = metricsToken ? { authorization: `Bearer ${metricsToken}` } : {};
  const answer = await send({ url: metricsToken ? `${url}?verbose` : url, headers, timeoutMs });
  const unusable = (isRunning: boolean, message: string, fix: string) => ({
    isRunning,
    checks: [failed('service', message, fix)],
  });
  if ('code' in answer)
    return unusable(
      false,
      `No service answers at ${listener} (${answer.code}): it does not run, or it has other settings. ${source}`,
      `Start it: \`systemctl start ownline\`, or \`${startCommand}\`. If it runs, give this command its settings.`,
    );
  const { status } = answer;
  const body = readJson(answer);
  if (status === 200) {
    const jobs = metricsToken === undefined ? [] : checkJobs(body as ReadinessDetails);
    const check = ok('service', `The service at ${listener} runs and is ready. ${source}`);
    return { isRunning: true, checks: [check, ...jobs] };
  }
  const reason = status === 503 ? messageOf(body) : undefined;
  return reason === undefined
    ? unusable(
        status === 503,
        `Another program answers at ${listener} with ${status}. ${source}`,
        'Correct HOST and PORT, or stop that program.',
      )
    : unusable(true, `The service is not ready: ${reason}`, 'Check its log for the reason.');
}

function checkJobs({ jobs }: ReadinessDetails): Check[] {
  const bad = jobs.filter(({ state }) => state === 'failing' || state === 'late');
  if (bad.length === 0) return [ok('jobs', `All ${jobs.length} background jobs of this process succeed.`)];
  return bad.map(({ name, state, last_error: error }) =>
    warning(
      'jobs',
      `The background job “${name}” is ${state}${error === null ? '' : `: ${error}`}.`,
      'Check the log of the service for lines with the name of the job (docs/operations.md, "Monitoring and alerts").',
    ),
  );
}

function sourceSentence(config: Config, source: AddressSource): string {
  switch (source) {
    case 'record':
      return `It recorded this address in ${addressRecord(config)}.`;
    case 'settings':
      return 'The address is that of the settings.';
    case 'default':
      return 'The address is the default: no setting and no record names another.';
  }
}

/** The address to call: a loopback address if the service listens on all addresses. */
function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}

function readJson({ body }: Answered): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function messageOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  if ('message' in body && typeof body.message === 'string') return body.message;
  return 'error' in body ? messageOf(body.error) : undefined;
}
