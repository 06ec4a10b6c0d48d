import { type ReactNode, useEffect, useState } from 'react';
import { nowMs } from './clock.ts';
import { exactTime, formatPhoneNumber, relativeTime } from './format.ts';

/** A time relative to now, with the exact one on hover. It stays right while the page is open. */
export function Time({ at }: { readonly at: string }): ReactNode {
  const [now, setNow] = useState(() => nowMs());
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMs()), 15_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={exactTime(at)} className="whitespace-nowrap tabular-nums">
      {relativeTime(at, now)}
    </time>
  );
}

/** A phone number in a person's format; any other handle as it is. */
export function Handle({ value }: { readonly value: string }): ReactNode {
  return <span className="tabular-nums">{formatPhoneNumber(value)}</span>;
}

export function Code({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <code className="rounded bg-sunken px-1.5 py-0.5 font-mono text-[0.8125rem] break-all text-ink">
      {children}
    </code>
  );
}
