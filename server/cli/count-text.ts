/** `1 message`, `2,000 messages`. */
export function countText(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

/** The same of a count that ends at one more than `max`: `more than 10,000 messages`. */
export function countUpToText(number: number, max: number, one: string, many = `${one}s`): string {
  return number > max ? `more than ${countText(max, one, many)}` : countText(number, one, many);
}
