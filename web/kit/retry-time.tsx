import { type ReactNode, useEffect, useState } from 'react';
import type { ApiError } from '#web/api/request.ts';
import { texts } from './texts.ts';

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
  const sentence = isAutomatic ? texts.triedAgain : texts.youCanTry;
  return (
    <span aria-live="off" className="mt-1 block tabular-nums">
      {sentence({ when: waitInWords(seconds) })}
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
  if (seconds === 0) return texts.due.now;
  if (seconds < 60) return texts.due.seconds({ count: seconds });
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60
    ? texts.due.minutes({ count: minutes })
    : texts.due.hours({ count: Math.ceil(minutes / 60) });
}
