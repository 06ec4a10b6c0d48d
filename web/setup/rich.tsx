import type { ReactNode } from 'react';
import { withBold } from '../kit/catalogue.ts';

type RichProps<Values> =
  | { readonly text: string; readonly values?: undefined }
  | { readonly text: string | ((values: Values) => ReactNode); readonly values: Values };

/**
 * Renders a text of the catalogue, with its bold words and values. Values have a writing direction of their own. A text
 * that is chosen by its name may leave out values.
 */
export function Rich<Values extends Readonly<Record<string, ReactNode>>>({
  text,
  values,
}: RichProps<Values>): ReactNode {
  if (typeof text === 'string') return withBold(text);
  const isolated = Object.entries(values ?? {}).map(([name, value]) => [name, <bdi key={name}>{value}</bdi>]);
  return text(Object.fromEntries(isolated));
}

/** A paragraph of the catalogue. */
export function Say<Values extends Readonly<Record<string, ReactNode>>>({
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
