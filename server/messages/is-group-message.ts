import { normalizeSender } from './normalize-sender.ts';

/**
 * True if a received message went to several recipients (specification section 11.5). Phones may include their own
 * number among the recipients or leave it out.
 * @param reported handles or names, separated by line ends, commas or semicolons
 */
export function isGroupMessage(reported: string | undefined, from: string, ownNumber: string): boolean {
  const recipients = (reported ?? '')
    .split(/[\n,;]/)
    .map((handle) => normalizeSender(handle, ownNumber))
    .filter((handle) => handle !== '' && handle !== from);
  return new Set(recipients).size > 1;
}
