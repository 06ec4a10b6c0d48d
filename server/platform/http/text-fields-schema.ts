import { type TObject, Type } from 'typebox';

/** Schema of a form or a device's JSON object: the named fields are optional texts, and other fields are ignored. */
export function textFieldsSchema(...names: readonly string[]): TObject {
  return Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(Type.String())])));
}
