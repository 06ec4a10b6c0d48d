import type { ReactNode } from 'react';
import { splitLinks } from './split-links.ts';

/** A text that a person outside the team wrote, with its addresses as links. They learn nothing of this page. */
export function LinkedText({ text }: { readonly text: string }): ReactNode {
  return splitLinks(text).map(({ text: part, href }, index) =>
    href === undefined ? (
      part
    ) : (
      <a
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never move
        key={index}
        href={href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        className="underline underline-offset-2 [overflow-wrap:anywhere]"
      >
        {part}
      </a>
    ),
  );
}
