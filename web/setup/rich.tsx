import type { ReactNode } from 'react';

type RichProps<Values> =
  | { readonly text: string; readonly values?: undefined }
  | { readonly text: string | ((values: Values) => string); readonly values: Values };

/** Renders a text of the catalogue, with its bold words. A text that is looked up by name may have no values. */
export function Rich<Values>({ text, values }: RichProps<Values>): ReactNode {
  const words = typeof text === 'string' ? text : text(values as Values);
  return words.split(/\*\*(.+?)\*\*/).map((part, index) => {
    const key = `${index} ${part}`;
    return index % 2 === 0 ? part : <b key={key}>{part}</b>;
  });
}

/** A paragraph of the catalogue. */
export function Say<Values>({
  className,
  ...rest
}: RichProps<Values> & { readonly className?: string }): ReactNode {
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
