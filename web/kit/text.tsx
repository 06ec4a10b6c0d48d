import type { ReactNode } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';

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
