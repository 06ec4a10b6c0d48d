import type { ReactNode } from 'react';
import { fill } from '#web/kit/catalogue.ts';
import type { Values } from './texts/texts.ts';

interface RichProps {
  readonly text: string;
  readonly values?: Values;
}

/** Renders a text of the catalogue, with its bold words and values. Values have a writing direction of their own. */
export function Rich({ text, values = {} }: RichProps): ReactNode {
  return text.split(/(\*\*.+?\*\*|\{\w+\})/).map((part, index) => {
    const key = `${index} ${part}`;
    if (part.startsWith('**')) return <b key={key}>{fill(part.slice(2, -2), values)}</b>;
    return part.startsWith('{') ? <bdi key={key}>{fill(part, values)}</bdi> : part;
  });
}

/** A paragraph of the catalogue. */
export function Say({ className, ...rest }: RichProps & { readonly className?: string }): ReactNode {
  return (
    <p className={className}>
      <Rich {...rest} />
    </p>
  );
}

interface FoldProps {
  readonly title: string;
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}

/** A box that is closed at first, unless `isOpen`. */
export function Fold({ title, isOpen = false, children }: FoldProps): ReactNode {
  return (
    <details className="mt-4" open={isOpen}>
      <summary className="min-h-9 font-medium">{title}</summary>
      {children}
    </details>
  );
}
