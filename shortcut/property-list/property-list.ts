/** A value of a property list, as far as shortcuts use them: no dates, no data, whole numbers only. */
export type PropertyList = string | number | boolean | readonly PropertyList[] | PropertyDictionary;

export interface PropertyDictionary {
  readonly [key: string]: PropertyList;
}

export function isPropertyArray(value: PropertyList): value is readonly PropertyList[] {
  return Array.isArray(value);
}

/** @throws RangeError for a number that a property list of a shortcut cannot hold */
export function checkInteger(value: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no whole number`);
  return value;
}
