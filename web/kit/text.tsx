import { type ReactNode, useEffect, useState } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
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

/** A phone number in groups of digits; other handles are unchanged. */
export function Handle({ value }: { readonly value: string }): ReactNode {
  return <span className="tabular-nums">{formatPhoneNumber(value)}</span>;
}

/** A paragraph of smaller text, such as a remark below a field. */
export function Hint({ children }: { readonly children: ReactNode }): ReactNode {
  return <p className="text-[0.8125rem] text-quiet">{children}</p>;
}

export function Code({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <code className="rounded bg-sunken px-1.5 py-0.5 font-mono text-[0.8125rem] break-all text-ink">
      {children}
    </code>
  );
}
