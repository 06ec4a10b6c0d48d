import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';
import type { DialogProps } from './dialog-props.ts';
import { lazyDialog } from './lazy-dialog.tsx';

/** The properties that the page of a dialog controls. */
export type DialogState = Pick<DialogProps, 'isOpen' | 'onClose'>;

// The frame's code is a sixth of all scripts, so it is loaded when the first dialog opens.
const Frame = lazyDialog(async () => (await import('./dialog-frame.tsx')).DialogFrame);

const inTheMiddle = classNames(
  'sm:top-[12vh] sm:left-1/2 sm:max-h-[76vh] sm:w-[min(32rem,calc(100vw-2rem))] sm:-translate-x-1/2',
  'sm:rounded-2xl sm:data-ending-style:scale-98 sm:data-ending-style:opacity-0',
  'sm:data-starting-style:scale-98 sm:data-starting-style:opacity-0',
);

const atTheRight = classNames(
  'sm:inset-y-0 sm:right-0 sm:w-[min(31rem,100vw)] sm:border-y-0 sm:border-r-0',
  'sm:data-ending-style:translate-x-full sm:data-starting-style:translate-x-full',
);

/** A dialog; on a phone a sheet at the bottom. */
export function Dialog(props: DialogProps): ReactNode {
  return <Frame {...props} className={inTheMiddle} />;
}

/** Details of a row at the right edge; on a phone a sheet at the bottom. */
export function Drawer(props: DialogProps): ReactNode {
  return <Frame {...props} className={atTheRight} />;
}
