import { Type } from 'typebox';

/** The schema of every answer: a shortcut reads fields that are texts. */
export const flatStrings = Type.Record(Type.String(), Type.String());
