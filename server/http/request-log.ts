import { Counter, collectDefaultMetrics, Histogram } from 'prom-client';
import type { ErrorCode } from '#contract/errors.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { RepeatLimiter } from '#server/platform/concurrency/repeat-limiter.ts';
import { type AccountId, publicId, type TeamId } from '#server/platform/ids.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import type { Metrics } from '#server/platform/process/metrics.ts';
import type { Audience } from './route.ts';

/**
 * How many refusals of one kind are logged per minute; further ones are counted. A kind is a route, status, code, and
 * team or client network.
 */
const refusedMax = 3;

export interface CompletedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The pattern of the route, without ids; undefined if no route matched. */
  readonly route: string | undefined;
  readonly audience: Audience | undefined;
  readonly status: number;
  readonly durationMs: number;
  /** The error code of a refused request. */
  readonly errorCode: ErrorCode | undefined;
  readonly teamId: TeamId | undefined;
  /** The actor of a refused request, if the caller is known. */
  readonly by: AuditActor | undefined;
  /** The client network of a refused request. */
  readonly network: string | undefined;
  /** The signed-in account, if there is one. */
  readonly accountId: AccountId | undefined;
  /** The operation's name in the audit log; undefined for an operation that changes nothing. */
  readonly audit: string | undefined;
  /** The id in the path as the client wrote it; '' if the path has no id. */
  readonly target: string;
}

/**
 * Counts and logs every answer (specification section 10.4). A log line names the route's pattern, the status and the
 * request id, never a path, a header or a body. A refusal is logged at `info`; without a known team it names the client
 * network, for programs that block networks. Every other answer is logged at `debug`. Unless `debug` is on, repeated
 * refusals are collapsed, so that no client can fill the log.
 */
export function createRequestLog(metrics: Metrics, logger: Logger): (answered: CompletedRequest) => void {
  collectDefaultMetrics({ register: metrics });
  const durations = new Histogram({
    name: 'ownline_http_request_duration_seconds',
    help: 'From the first byte of a request to the last of its response, by route. A held poll counts with its whole wait.',
    labelNames: ['method', 'route'] as const,
    buckets: [0.005, 0.025, 0.1, 0.25, 1, 5, 30],
    registers: [metrics],
  });
  const requests = countRequests(metrics);
  const refusals = new Counter({
    name: 'ownline_refusals_total',
    help: 'Requests that were refused, by route and code of the error.',
    labelNames: ['route', 'code'] as const,
    registers: [metrics],
  });
  const refused = new RepeatLimiter<object>({
    max: refusedMax,
    windowMs: 60_000,
    kindsMax: 1_000,
    summarize: (latest, repeats) => logger.info({ ...latest, repeats }, 'answered'),
  });
  return (answered) => {
    const { method: asked, status, errorCode: code } = answered;
    // Clients choose the method. Without a matching route it is not used as a label, so that clients cannot add series.
    const { method, route } = answered.audience
      ? { method: asked, route: answered.route ?? 'none' }
      : { method: 'any', route: 'none' };
    durations.observe({ method, route }, answered.durationMs / 1_000);
    requests(method, route, status);
    if (code !== undefined) refusals.inc({ route, code });
    const isDebugged = logger.isLevelEnabled('debug');
    if (!isDebugged && (code === undefined || !logger.isLevelEnabled('info'))) return;
    const { requestId, durationMs, teamId, network } = answered;
    const line = {
      requestId,
      method: asked,
      route,
      status,
      code,
      ms: Math.round(durationMs),
      team: teamId && publicId('team', teamId),
      // Programs may block a logged network, so the line of a known team's request names no network.
      network: teamId ? undefined : network,
    };
    if (code === undefined) logger.debug(line, 'answered');
    else if (isDebugged || refused.pass([method, route, status, code, teamId ?? network].join(' '), line))
      logger.info(line, 'answered');
  };
}

interface RequestCount {
  readonly labels: { readonly method: string; readonly route: string; readonly status: number };
  count: number;
}

/** Creates a counter that builds its labels when it is read, so that a request costs one map look-up. */
function countRequests(metrics: Metrics): (method: string, route: string, status: number) => void {
  const counts = new Map<string, RequestCount>();
  new Counter({
    name: 'ownline_http_requests_total',
    help: 'Requests by method, route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [metrics],
    collect() {
      this.reset();
      for (const { labels, count } of counts.values()) this.inc(labels, count);
    },
  });
  return (method, route, status) => {
    const key = `${method} ${route} ${status}`;
    const known = counts.get(key);
    if (known) known.count += 1;
    else counts.set(key, { labels: { method, route, status }, count: 1 });
  };
}
