import { useEffect, useState } from 'react';

/** The pause after the last key, after which a search begins. */
const pauseMs = 200;

/** A value that follows another one after a pause without changes. */
export function useDebounced<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
