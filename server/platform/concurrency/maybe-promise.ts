/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Runs `next` synchronously if the value is there: a promise would cost every request ticks of the event loop.
 * An error of `next` is thrown if the value was there, and rejects the promise if it was not.
 */
export function mapMaybe<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
