import { Type } from 'typebox';
import { strictObject } from './schema.ts';

export const Deleted = strictObject({ deleted: Type.Literal(true) });
