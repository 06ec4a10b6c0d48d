import {
  cloneElement,
  createContext,
  type FocusEvent,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  use,
  useEffect,
  useRef,
  useState,
} from 'react';
import { classNames } from './class-names.ts';

/** Closes the menu of an item, and returns the focus to the menu's button. */
const CloseMenu = createContext<() => void>(() => undefined);

const listStyle = classNames(
  'absolute z-50 w-max max-w-72 min-w-48 animate-in rounded-xl border border-line bg-raised p-1.5 shadow-raised',
  'font-normal whitespace-normal text-ink',
);

/**
 * A menu with the keys of the ARIA menu pattern: arrows, Home, End, Escape. It is our own code, because a library's
 * positioned layer would be a tenth of the first page's scripts.
 */
export function Menu({
  trigger,
  children,
  side = 'bottom',
  align = 'end',
  className,
}: {
  readonly className?: string;
  /** A button, or a component that passes its properties to one. */
  readonly trigger: ReactElement<object>;
  readonly children: ReactNode;
  readonly side?: 'top' | 'bottom';
  /** `edge`: the menu ends a little before its button does, for a button at the edge of the window. */
  readonly align?: 'start' | 'end' | 'edge';
}): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    itemsIn(list.current)[0]?.focus();
    const onPress = (event: PointerEvent) => {
      if (!frame.current?.contains(event.target as Node)) setIsOpen(false);
    };
    document.addEventListener('pointerdown', onPress);
    return () => document.removeEventListener('pointerdown', onPress);
  }, [isOpen]);
  const close = () => {
    setIsOpen(false);
    frame.current?.querySelector('button')?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close();
    else if (!moveFocus(event, itemsIn(list.current))) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onBlur = (event: FocusEvent) => {
    if (event.relatedTarget && !frame.current?.contains(event.relatedTarget)) setIsOpen(false);
  };
  return (
    <div ref={frame} className={classNames('relative', className)}>
      {cloneElement(trigger, {
        'aria-haspopup': 'menu',
        'aria-expanded': isOpen,
        onClick: () => setIsOpen(!isOpen),
      } as object)}
      {isOpen && (
        <div
          ref={list}
          role="menu"
          tabIndex={-1}
          onKeyDown={onKeyDown}
          onBlur={onBlur}
          className={classNames(
            listStyle,
            side === 'bottom' ? 'top-full mt-1.5' : 'bottom-full mb-1.5',
            { start: 'left-0', end: 'right-0', edge: 'right-2' }[align],
          )}
        >
          <CloseMenu value={close}>{children}</CloseMenu>
        </div>
      )}
    </div>
  );
}

const itemsIn = (list: HTMLElement | null): HTMLElement[] =>
  list ? [...list.querySelectorAll<HTMLElement>('[role="menuitem"]')] : [];

/** Moves the focus by a key. @returns true if the key moves the focus */
export function moveFocus({ key }: Pick<KeyboardEvent, 'key'>, items: readonly HTMLElement[]): boolean {
  const at = items.indexOf(document.activeElement as HTMLElement);
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  };
  const target = targets[key];
  if (target === undefined) return false;
  items[target]?.focus();
  return true;
}

const itemStyle = classNames(
  'flex min-h-9 w-full cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-left max-sm:min-h-11',
  'outline-none select-none hover:bg-sunken focus:bg-sunken',
  '[&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-quiet',
);

export function MenuItem({
  onSelect,
  isDangerous = false,
  children,
}: {
  readonly onSelect: () => void;
  readonly isDangerous?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const close = use(CloseMenu);
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={classNames(itemStyle, isDangerous && 'text-bad-ink [&_svg]:text-bad-ink')}
      onClick={() => {
        close();
        onSelect();
      }}
    >
      {children}
    </button>
  );
}

/** A menu item that is a link. @param render the link */
export function MenuLink({
  render,
  children,
}: {
  readonly render: ReactElement<object>;
  readonly children: ReactNode;
}): ReactNode {
  const close = use(CloseMenu);
  return cloneElement(render, {
    role: 'menuitem',
    tabIndex: -1,
    className: itemStyle,
    onClick: close,
    children,
  } as object);
}

export function MenuHeading({ children }: { readonly children: ReactNode }): ReactNode {
  return <div className="px-2.5 pt-1.5 pb-1 text-xs text-quiet">{children}</div>;
}

export function MenuSeparator(): ReactNode {
  return <hr className="mx-1 my-1.5 border-line" />;
}
