/** Names and addresses of the machine that a program runs on. */
const ownNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0']);

/** Whether an address leads to the machine that opens it: no iPhone reaches the server there. */
export function isOwnAddress(url: string): boolean {
  return ownNames.has(new URL(url).hostname);
}
