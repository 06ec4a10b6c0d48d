import { Type } from 'typebox';

const listLimitMax = 100;

export const listLimitDefault = 50;

/** The query of a list that comes in pages. @param nouns its items, such as `messages` */
export function pageQuery(nouns: string) {
  return {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: listLimitMax,
        default: listLimitDefault,
        description: `How many ${nouns} a page has at most.`,
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'The `cursor` of the previous page. Left out or empty: the first page.',
      }),
    ),
  };
}

/** The fields that each page has beside its items. @param cursor the description of the field `cursor` */
export function pageFields(prefix: string, cursor = 'Send this value as `cursor` to get the next page.') {
  return {
    cursor: Type.String({ description: cursor, examples: [`${prefix}_01h2xcejqtf2nbrexx3vqjhp41`] }),
    has_more: Type.Boolean({ description: 'false: this is the last page.' }),
  };
}
