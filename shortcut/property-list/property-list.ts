/** A value of a property list, of the types that shortcuts use: no data, whole numbers and whole seconds only. */
export type PropertyList = string | number | boolean | Date | readonly PropertyList[] | PropertyDictionary;

export interface PropertyDictionary {
  readonly [key: string]: PropertyList;
}

export function isPropertyArray(value: PropertyList): value is readonly PropertyList[] {
  return Array.isArray(value);
}

export function isPropertyDictionary(value: PropertyList | undefined): value is PropertyDictionary {
  return typeof value === 'object' && !isPropertyArray(value) && !(value instanceof Date);
}

/** Checks a number of a property list. @throws RangeError if it is no safe integer */
export function checkInteger(value: number): number {
  if (!Number.isSafeInteger(value))
    throw new RangeError(`a property list can't hold ${value}: its numbers are whole`);
  return value;
}
