import type { ReactNode } from 'react';
import { splitLinks } from './split-links.ts';

/** A stranger's text with its URLs as links. The links send no referrer. */
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
