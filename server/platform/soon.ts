/** What is there already, or will be. */
export type Soon<T> = T | Promise<T>;

/**
 * Goes on at once with what is there: a promise for it would cost every request turns of the event loop.
 * What `next` throws is thrown where the value was there, and rejects where it was not.
 */
export function onceThere<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
