import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTitle } from './title.ts';

export function Page({
  title,
  back,
  description,
  actions,
  children,
}: {
  readonly title: string;
  /** A link to the page above this one. */
  readonly back?: { readonly text: string; readonly link: LinkProps };
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  useTitle(title);
  return (
    <div className="mx-auto w-full max-w-[68rem] px-8 pt-8 pb-16 max-md:px-4 max-md:pt-5">
      {back && (
        <Link
          {...back.link}
          className="mb-2 inline-flex items-center gap-1 text-quiet hover:text-ink max-sm:py-2"
        >
          <ChevronLeft aria-hidden="true" className="size-4" /> {back.text}
        </Link>
      )}
      <header className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-3 max-md:mb-4">
        <div className="min-w-0">
          <h1 className="text-[1.375rem] leading-tight font-semibold tracking-[-0.012em]">{title}</h1>
          {description !== undefined && <p className="mt-1 max-w-[60ch] text-quiet">{description}</p>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** Explains why a list or page is empty, and offers the next step. */
export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  readonly icon: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}): ReactNode {
  return (
    <div className="flex flex-col items-center px-6 py-14 text-center max-sm:py-10">
      <span className="mb-3 grid size-11 place-items-center rounded-xl bg-accent-tint text-accent-ink [&_svg]:size-5">
        {icon}
      </span>
      <h2 className="text-[0.9375rem] font-semibold">{title}</h2>
      {children !== undefined && <p className="mt-1 max-w-[46ch] text-quiet">{children}</p>}
      {action !== undefined && <div className="mt-5 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
