import { Type } from 'typebox';

/** E.164 as /v1 accepts it (specification section 2.1). No numbering plan is checked: fictional numbers are valid. */
export const e164Pattern = '^\\+[1-9]\\d{6,14}$';
const e164 = new RegExp(e164Pattern);

export function isE164(text: string): boolean {
  return e164.test(text);
}

export function phoneNumber(description: string, example = '+14155550100') {
  return Type.String({ pattern: e164Pattern, description, examples: [example] });
}
