import type { LiveRows } from '#contract/live.ts';
import type { NumberResource } from '#contract/number.ts';

export function mergeNumbers(
  before: readonly NumberResource[],
  {
    numbers,
    numbers_complete,
    removed_numbers,
  }: Pick<LiveRows, 'numbers' | 'numbers_complete' | 'removed_numbers'>,
): NumberResource[] {
  const byId = new Map(numbers.map((number) => [number.id, number]));
  const kept = before.filter(
    ({ id }) => !removed_numbers.includes(id) && (!numbers_complete || byId.has(id)),
  );
  const known = new Set(before.map(({ id }) => id));
  return [
    ...kept.map((number) => byId.get(number.id) ?? number),
    ...numbers.filter(({ id }) => !known.has(id) && !removed_numbers.includes(id)),
  ];
}
