import { twMerge } from 'tailwind-merge';

/** Joins class names. If two set the same CSS property, the later one wins. */
export function classNames(...names: (string | false | undefined)[]): string {
  return twMerge(names.filter(Boolean).join(' '));
}
