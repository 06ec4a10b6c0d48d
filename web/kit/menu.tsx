import { Menu as BaseMenu } from '@base-ui/react/menu';
import type { ReactElement, ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** A menu behind a button. */
export function Menu({
  trigger,
  children,
  side = 'bottom',
  align = 'end',
}: {
  readonly trigger: ReactElement;
  readonly children: ReactNode;
  readonly side?: 'top' | 'bottom' | 'right';
  readonly align?: 'start' | 'end';
}): ReactNode {
  return (
    <BaseMenu.Root modal={false}>
      <BaseMenu.Trigger render={trigger} />
      <BaseMenu.Portal>
        <BaseMenu.Positioner side={side} align={align} sideOffset={6} className="z-50 outline-none">
          <BaseMenu.Popup className="min-w-48 animate-in rounded-xl border border-line bg-raised p-1.5 shadow-raised outline-none">
            {children}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

const item =
  'flex min-h-9 w-full cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-left outline-none select-none data-highlighted:bg-sunken max-sm:min-h-11 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-quiet';

export function MenuItem({
  onSelect,
  isDangerous = false,
  children,
}: {
  readonly onSelect: () => void;
  readonly isDangerous?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <BaseMenu.Item
      className={classNames(item, isDangerous && 'text-bad-ink [&_svg]:text-bad-ink')}
      onClick={onSelect}
    >
      {children}
    </BaseMenu.Item>
  );
}

/** An item that leads to another page. @param render the link */
export function MenuLink({
  render,
  children,
}: {
  readonly render: ReactElement;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <BaseMenu.LinkItem className={item} render={render}>
      {children}
    </BaseMenu.LinkItem>
  );
}

export function MenuHeading({ children }: { readonly children: ReactNode }): ReactNode {
  return <div className="px-2.5 pt-1.5 pb-1 text-xs text-quiet">{children}</div>;
}

export function MenuSeparator(): ReactNode {
  return <BaseMenu.Separator className="mx-1 my-1.5 h-px bg-line" />;
}
