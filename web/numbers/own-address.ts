/** Host names of the machine that a program runs on. */
const ownNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0']);

/** Whether a URL points to the machine that opens it, so that an iPhone cannot reach the server by it. */
export function isOwnAddress(url: string): boolean {
  return ownNames.has(new URL(url).hostname);
}
