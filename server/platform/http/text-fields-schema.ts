import { type TObject, Type } from 'typebox';

/** The fields of a form or of a device's JSON object: optional texts. Others are ignored. */
export function textFieldsSchema(...names: readonly string[]): TObject {
  return Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(Type.String())])));
}
