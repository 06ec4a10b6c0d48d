/** How many replies of one contact a phone gets in an hour. The bounds end loops with programs that answer replies. */
const repliesPerContactMax = 5;
const repliesMax = 60;
const hourMs = 3_600_000;

interface Received {
  readonly to: string;
  readonly text: string;
  readonly hasFile: boolean;
}

/** The first rule that matches a text decides the reply. No reply is an opt-out keyword. */
const rules: readonly { readonly fits: RegExp; readonly reply: string }[] = [
  {
    fits: /\b(code|pin|passcode|otp)\b.*\d{4,8}|\d{4,8}.*\b(code|pin|passcode|otp)\b/i,
    reply: 'Thanks, the code works.',
  },
  {
    fits: /\b(appointment|reservation|booking|meeting|table|tomorrow|today|tonight|[0-9]{1,2}(:[0-9]{2})? ?[ap]\.?m\.?)\b/i,
    reply: 'Thanks for letting me know. See you then!',
  },
  { fits: /\b(order|package|parcel|delivery|shipped|tracking)\b/i, reply: 'Thanks! When will it arrive?' },
  { fits: /\b(invoice|payment|paid|receipt|refund)\b/i, reply: 'Thanks, I got it.' },
  { fits: /https?:\/\//i, reply: 'Thanks, I will have a look.' },
  { fits: /\?\s*$/, reply: 'Yes, that works for me. Thanks for asking!' },
  { fits: /^\W*(hi|hello|hey|good (morning|afternoon|evening))\b/i, reply: 'Hi! Thanks for your message.' },
  { fits: /\b(thanks|thank you)\b/i, reply: 'You are welcome!' },
];

/** A plausible reply of a person to a text. */
export function plausibleReply({ text, hasFile }: Pick<Received, 'text' | 'hasFile'>): string {
  if (hasFile) return 'Thanks for sending this!';
  return rules.find(({ fits }) => fits.test(text))?.reply ?? 'Thanks for your message!';
}

/** Replies of the people whom a simulated phone texts, bounded per hour. */
export class PlausibleReplies {
  /** The given replies of the last hour, oldest first. */
  #given: { readonly to: string; readonly atMs: number }[] = [];

  /** Gives the next reply. @returns undefined if the bound for the hour before `atMs` is reached */
  next(received: Received, atMs: number): string | undefined {
    this.#given = this.#given.filter((reply) => reply.atMs > atMs - hourMs);
    const toContact = this.#given.filter(({ to }) => to === received.to).length;
    if (toContact >= repliesPerContactMax || this.#given.length >= repliesMax) return undefined;
    this.#given.push({ to: received.to, atMs });
    return plausibleReply(received);
  }
}
