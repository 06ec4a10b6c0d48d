import { Link, useParams } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import type { ReactNode } from 'react';
import { Menu, MenuLink } from '#web/kit/menu.tsx';
import type { NavigationItem } from './navigation.ts';

/** A menu of the pages that the phone's tab bar has no room for. */
export function MoreMenu({ items }: { readonly items: readonly NavigationItem[] }): ReactNode {
  const params = useParams({ strict: false });
  if (items.length === 0) return null;
  return (
    <Menu
      side="top"
      align="edge"
      className="flex-1"
      trigger={
        <button
          type="button"
          className="flex h-16 w-full flex-col items-center justify-center gap-1 text-[0.6875rem] font-medium text-quiet"
        >
          <Ellipsis aria-hidden="true" className="size-[1.375rem]" strokeWidth={1.8} />
          More
        </button>
      }
    >
      {items.map((item) => (
        <MenuLink key={item.to} render={<Link to={item.to} params={params} />}>
          <item.icon aria-hidden="true" />
          {item.text}
        </MenuLink>
      ))}
    </Menu>
  );
}
