import assert from 'node:assert/strict';

/** Compares what `read` finds in each value with `expected`, in order. A failure shows both, and `of`. */
export function assertEach<Value>(
  values: readonly Value[],
  read: (value: Value, index: number) => unknown,
  expected: readonly unknown[],
  of?: string,
): void {
  assert.deepEqual({ of, found: values.map(read) }, { of, found: expected });
}

/** Fails if a value is wrong, and shows those that are. */
export function assertNone<Value>(
  values: readonly Value[],
  isWrong: (value: Value, index: number) => boolean,
  of?: string,
): void {
  assertEach(values.filter(isWrong), (value) => value, [], of);
}
