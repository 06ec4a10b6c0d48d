import { type ReactNode, useEffect, useState } from 'react';
import { nowMs } from './clock.ts';
import { clockTimeOf, exactTime } from './format.ts';
import { dueTime, pastTime } from './relative-time.ts';

/** The time of something that has happened, relative to now and updated. The tooltip has the exact time. */
export const Time = ({ at }: { readonly at: string }): ReactNode => relativeTime(at, pastTime(at, useNow()));

/** The time of something to come, relative to now and updated. The tooltip has the exact time. */
export const DueTime = ({ at }: { readonly at: string }): ReactNode =>
  relativeTime(at, dueTime(at, useNow()));

function relativeTime(at: string, shown: string): ReactNode {
  return (
    <time dateTime={at} title={exactTime(at)} className="whitespace-nowrap tabular-nums">
      {shown}
    </time>
  );
}

/** The time of a step, as clock time with seconds and relative to now. */
export function StepTime({ at }: { readonly at: string }): ReactNode {
  const now = useNow();
  return (
    <time dateTime={at} title={exactTime(at)} className="tabular-nums">
      {clockTimeOf(at, now)} · {pastTime(at, now)}
    </time>
  );
}

function useNow(): number {
  const [now, setNow] = useState(() => nowMs());
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMs()), 15_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
