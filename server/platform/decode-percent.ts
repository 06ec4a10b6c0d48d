/** Decodes a percent-encoded text. @returns undefined for a text that is not percent-encoded UTF-8 */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
