import { UserRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

const circle = 'grid size-8 shrink-0 place-items-center rounded-full text-xs font-semibold uppercase';

/** The initials of a person: `Ada Example` is AE. */
export function Avatar({ name }: { readonly name: string }): ReactNode {
  return (
    <span aria-hidden="true" className={classNames(circle, 'bg-accent-tint text-accent-ink')}>
      {initialsOf(name)}
    </span>
  );
}

/** A contact's initials, or a figure for a phone number without a name, in a colour that belongs to the handle. */
export function ContactAvatar({
  contact,
  name,
  className,
}: {
  /** The handle. */
  readonly contact: string;
  readonly name: string | null;
  readonly className?: string;
}): ReactNode {
  const shown = name ?? (/^\+?\d+$/.test(contact) ? '' : contact);
  return (
    <span aria-hidden="true" className={classNames(circle, 'contact-colour', hueOf(contact), className)}>
      {initialsOf(shown) || <UserRound className="size-[55%]" strokeWidth={2.2} />}
    </span>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  return [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('');
}

/** Colours of theme.css. */
const hues = ['hue-0', 'hue-1', 'hue-2', 'hue-3', 'hue-4', 'hue-5', 'hue-6', 'hue-7'];

function hueOf(contact: string): string | undefined {
  let hash = 0;
  for (const character of contact) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hues[hash % hues.length];
}
