import type { ReactNode } from 'react';

/** The initials of a person: `Ada Example` is AE. */
export function Avatar({ name }: { readonly name: string }): ReactNode {
  const words = name.trim().split(/\s+/);
  const initials = [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('');
  return (
    <span
      aria-hidden="true"
      className="grid size-8 shrink-0 place-items-center rounded-full bg-accent-tint text-xs font-semibold text-accent-ink uppercase"
    >
      {initials}
    </span>
  );
}
