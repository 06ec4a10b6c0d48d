import { type ReactNode, useEffect, useState } from 'react';
import type { ApiError } from '#web/api/request.ts';

/**
 * Counts down to the end of a rate limit. Screen readers do not announce each second.
 * @param isAutomatic whether the page repeats the request by itself
 */
export function RetryTime({
  error: { atMs, retryAfter = 0 },
  isAutomatic = false,
}: {
  readonly error: ApiError;
  readonly isAutomatic?: boolean;
}): ReactNode {
  const seconds = useSecondsUntil(atMs + retryAfter * 1_000);
  const [what, how] = isAutomatic ? ['It is tried again', ' by itself'] : ['You can try again', ''];
  return (
    <span aria-live="off" className="mt-1 block tabular-nums">
      {what}
      {how} {seconds > 0 ? `in ${waitInWords(seconds)}` : 'now'}.
    </span>
  );
}

function useSecondsUntil(endMs: number): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  const seconds = Math.max(0, Math.ceil((endMs - nowMs) / 1_000));
  useEffect(() => {
    if (seconds === 0) return;
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [seconds]);
  return seconds;
}

function waitInWords(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
