import { Type } from 'typebox';

const listLimitMax = 100;

export const listLimitDefault = 50;

/** The query of a list that comes in pages. @param nouns its items, such as `Messages` */
export function pageQuery(nouns: string) {
  return {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: listLimitMax,
        default: listLimitDefault,
        description: `${nouns} on a page.`,
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'The cursor of the page before; empty or left out, the first page.',
      }),
    ),
  };
}

/** The fields that each page has beside its items. @param cursor the description of the field `cursor` */
export function pageFields(prefix: string, cursor = 'Send it as cursor to get the next page.') {
  return {
    cursor: Type.String({ description: cursor, examples: [`${prefix}_01h2xcejqtf2nbrexx3vqjhp41`] }),
    has_more: Type.Boolean({ description: 'false at the end.' }),
  };
}
