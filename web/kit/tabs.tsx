import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

const tabStyle = classNames(
  '-mb-px border-b-2 border-transparent py-2 font-medium whitespace-nowrap text-quiet hover:text-ink',
  'aria-[current=page]:border-accent aria-[current=page]:text-ink',
);

/** Parts of a page, each with its own address. */
export function Tabs({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly { readonly text: string; readonly link: LinkProps }[];
}): ReactNode {
  return (
    <nav aria-label={label} className="mb-5 flex gap-5 overflow-x-auto border-b border-line">
      {tabs.map(({ text, link }) => (
        <Link key={text} {...link} activeOptions={{ exact: true }} className={tabStyle}>
          {text}
        </Link>
      ))}
    </nav>
  );
}
