import { setTimeout as wait } from 'node:timers/promises';
import { isUnsent } from './no-answer.ts';
import { OwnlineError, parseJson } from './ownline-error.ts';

export interface RetryPolicy {
  /** Tries of a request in all. */
  readonly triesMax: number;
  /** Time for one try, to the last byte of its answer. */
  readonly timeoutMs: number;
  /** The longest wait between two tries, unless the server asks for a longer one. */
  readonly backoffMaxMs: number;
}

const backoffFirstMs = 500;
/**
 * The server's rate limits are per minute, so waits are shorter. If an answer asks for a longer wait, the request fails
 * at once. A request without a limit of tries waits this long instead.
 */
const retryAfterMaxSeconds = 120;

/**
 * Creates a fetch that repeats requests after a network error, a time-out, 429 and 5xx. It repeats GET, PUT and
 * requests with an Idempotency-Key; the key stays the same. Other requests are repeated after 429 only, because the
 * server did not accept them then. Any answer that is not 2xx throws an OwnlineError.
 */
export function retryingFetch({
  triesMax,
  timeoutMs,
  backoffMaxMs,
}: RetryPolicy): (request: Request) => Promise<Response> {
  return async (request) => {
    let mayHaveArrived = false;
    const isRepeatable = /^(GET|PUT)$/.test(request.method) || request.headers.has('idempotency-key');
    for (let tries = 1; ; tries += 1) {
      const outcome = await tryOnce(request, timeoutMs).catch((cause: unknown) => {
        request.signal.throwIfAborted();
        mayHaveArrived ||= !isUnsent(cause);
        return OwnlineError.ofFailure(request, cause, mayHaveArrived);
      });
      if (outcome instanceof Response) return outcome;
      const { status, retryAfterSeconds = 0 } = outcome;
      // A proxy can answer 5xx after the server accepted the request.
      mayHaveArrived ||= status >= 500;
      const isTemporary = status === 429 || (isRepeatable && (status === 0 || status >= 500));
      const isTooLong = retryAfterSeconds > retryAfterMaxSeconds && Number.isFinite(triesMax);
      if (!isTemporary || tries >= triesMax || isTooLong) throw outcome;
      const backoffMs = Math.min(backoffMaxMs, backoffFirstMs * 2 ** (tries - 1)) * (0.5 + Math.random() / 2);
      const askedMs = Math.min(retryAfterSeconds, retryAfterMaxSeconds) * 1_000;
      await wait(Math.max(backoffMs, askedMs), undefined, { signal: request.signal });
    }
  };
}

/** @throws the error of fetch if no whole answer arrives */
async function tryOnce(request: Request, timeoutMs: number): Promise<Response | OwnlineError> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
  // A redirect is not followed: the API has none, and another host would get the API key.
  const response = await fetch(request.clone(), { signal, redirect: 'manual' });
  const body = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return response.ok && isJson && parseJson(body) !== undefined
    ? new Response(body, response)
    : OwnlineError.ofAnswer(request, response, body);
}
