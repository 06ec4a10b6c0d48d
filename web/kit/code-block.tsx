import { type ReactNode, useRef } from 'react';
import { CopyButton } from './copy.tsx';

/** A text of several lines with a copy button. Long lines scroll. */
export function CodeBlock({
  title,
  text,
  copied = text,
  what,
}: {
  readonly title: string;
  readonly text: string;
  /** The text that the button copies, if it differs from the shown text. */
  readonly copied?: string;
  /** The accessible name of the text. */
  readonly what: string;
}): ReactNode {
  const shown = useRef<HTMLPreElement>(null);
  return (
    <div className="min-w-0 overflow-hidden rounded-lg border border-line">
      <div className="flex items-center justify-between gap-2 border-b border-line bg-sunken py-1 pr-1 pl-3">
        <span className="font-mono text-xs text-quiet">{title}</span>
        <CopyButton text={copied} what={what} {...(copied === text ? { value: shown } : {})} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard scrolls it */}
      <section tabIndex={0} aria-label={what} className="max-h-60 overflow-auto px-3 py-2.5">
        <pre ref={shown} className="font-mono text-xs leading-relaxed whitespace-pre">
          <bdi>{text}</bdi>
        </pre>
      </section>
    </div>
  );
}
