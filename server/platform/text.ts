/** Formats a count with its noun: `1 message`, `2,000 messages`. */
export function countText(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

/** Like `countText`, for a count that stops at `max` + 1: `more than 10,000 messages`. */
export function countUpToText(number: number, max: number, one: string, many = `${one}s`): string {
  return number > max ? `more than ${countText(max, one, many)}` : countText(number, one, many);
}

/** Decodes a percent-encoded text. @returns undefined for a text that is not percent-encoded UTF-8 */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
