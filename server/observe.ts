import { Counter, collectDefaultMetrics, Histogram } from 'prom-client';
import type { Answered } from '#server/platform/http/http-server.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { Metrics } from '#server/platform/metrics.ts';

/**
 * Counts and logs every answer (specification section 10.4). A log line names the route's pattern, the status and the
 * request id, never an address, a header or a body; what was refused is `info`, everything else `debug`.
 */
export function createRecorder(metrics: Metrics, logger: Logger): (answered: Answered) => void {
  collectDefaultMetrics({ register: metrics });
  const durations = new Histogram({
    name: 'ownline_http_request_duration_seconds',
    help: 'From the first byte of a request to the last of its answer, by route and status. Held polls last as long as they are held.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 60],
    registers: [metrics],
  });
  const refusals = new Counter({
    name: 'ownline_refusals_total',
    help: 'Requests that were refused, by route and code of the error.',
    labelNames: ['route', 'code'] as const,
    registers: [metrics],
  });
  return (answered) => {
    const route = answered.route ?? 'none';
    const { method, status, errorCode: code } = answered;
    durations.observe({ method, route, status }, answered.durationMs / 1_000);
    if (code !== undefined) refusals.inc({ route, code });
    const level = code === undefined ? 'debug' : 'info';
    if (logger.isLevelEnabled(level)) {
      const { requestId, durationMs, teamId } = answered;
      logger[level](
        { requestId, method, route, status, code, ms: Math.round(durationMs), teamId },
        'answered',
      );
    }
  };
}
