import { EndedTokenError } from '#server/devices/device-authenticator.ts';
import type { AppError } from '#server/platform/app-error.ts';

/** The answer to an inbound message or status that was refused: HTTP 200, because a shortcut can't see a status. */
export const refuse = (reason: string) => ({ body: { ok: '0', reason } });

/** Answers an inbound message or status that could not be handled, with the reason. */
export function onFailure(error: AppError): unknown {
  const { code, status } = error;
  if (error instanceof EndedTokenError) return refuse(error.reason).body;
  if (code === 'unauthorized' || code === 'rate_limited') return refuse(code).body;
  return refuse(status === 413 ? 'too_large' : 'unavailable').body;
}
