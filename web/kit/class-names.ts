import { twMerge } from 'tailwind-merge';

/** Class names, of which later ones win over earlier ones of the same property. */
export function classNames(...names: (string | false | undefined)[]): string {
  return twMerge(names.filter(Boolean).join(' '));
}
