export type MaybePromise<T> = T | Promise<T>;

/**
 * Runs `next` at once if `value` is not a promise: a promise would cost every request ticks of the event loop. Then an
 * error of `next` is thrown; otherwise it rejects the promise.
 */
export function mapMaybe<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
