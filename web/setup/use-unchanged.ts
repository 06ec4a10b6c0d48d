import { useEffect, useState } from 'react';

/** True once a value has been the same for some time while the person sees the page; always false for undefined. */
export function useUnchanged(value: string | undefined, ms: number): boolean {
  const [unchanged, setUnchanged] = useState<string>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const start = () => {
      clearTimeout(timer);
      setUnchanged(undefined);
      if (document.visibilityState === 'visible') timer = setTimeout(setUnchanged, ms, value);
    };
    start();
    document.addEventListener('visibilitychange', start);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', start);
    };
  }, [value, ms]);
  return value !== undefined && unchanged === value;
}
