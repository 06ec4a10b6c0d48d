import type { ReactNode } from 'react';
import { texts } from './texts.ts';

const widths = ['w-full', 'w-11/12', 'w-4/5', 'w-1/2', 'w-3/4', 'w-5/6'];

/** Grey lines as a placeholder for content that loads. @param lines at most 6 */
export function Skeleton({ lines = 3 }: { readonly lines?: number }): ReactNode {
  return (
    <div role="status" aria-label={texts.loading} className="flex flex-col gap-3 p-5">
      {widths.slice(0, lines).map((width) => (
        <span key={width} className={`h-4 animate-pulse-soft rounded bg-sunken ${width}`} />
      ))}
    </div>
  );
}
