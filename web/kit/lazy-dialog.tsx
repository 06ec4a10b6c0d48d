import { type ComponentType, lazy, type ReactNode, Suspense, useRef } from 'react';

/** A dialog whose code is loaded when it first opens. */
export function lazyDialog<Props extends { readonly isOpen: boolean }>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => ReactNode {
  const Content = lazy(async () => ({ default: await load() })) as unknown as ComponentType<Props>;
  return function LazyDialog(props) {
    const wasOpen = useRef(false);
    wasOpen.current ||= props.isOpen;
    if (!wasOpen.current) return null;
    return (
      <Suspense fallback={null}>
        <Content {...props} />
      </Suspense>
    );
  };
}
