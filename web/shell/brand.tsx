import type { ReactNode } from 'react';

/** The logo: a line that leaves a speech bubble. */
export function Brand(): ReactNode {
  return (
    <span className="flex items-center gap-2.5">
      <svg aria-hidden="true" viewBox="0 0 32 32" className="size-7">
        <rect width="32" height="32" rx="9" className="fill-accent" />
        <path
          d="M16 7.5c-5.5 0-9.5 3.4-9.5 7.9 0 2.6 1.4 4.8 3.5 6.2-.1 1.2-.6 2.3-1.4 3.2 1.9-.1 3.5-.8 4.7-1.7.9.2 1.8.3 2.7.3 5.5 0 9.5-3.5 9.5-8s-4-7.9-9.5-7.9Z"
          fill="#fff"
        />
        <path
          d="M11.5 15.5h9"
          className="stroke-accent"
          strokeWidth="2.4"
          strokeLinecap="round"
          fill="none"
        />
      </svg>
      <span className="text-[0.9375rem] font-semibold tracking-[-0.01em]">Ownline</span>
    </span>
  );
}
