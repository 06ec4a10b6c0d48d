export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** The declarations of types, each after those that it refers to. */
export class PythonTypes {
  readonly declarations: string[] = [];
  readonly #schemas: Readonly<Record<string, Schema>>;
  readonly #names = new Set<string>();

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas;
  }

  /** Declares a schema that has a name, unless it is declared already. */
  declare(name: string): void {
    const schema = this.#schemas[name];
    if (schema === undefined) throw new Error(`The document has no schema ${name}.`);
    if (this.#names.has(name)) return;
    this.#names.add(name);
    if (schema.properties === undefined) this.declarations.push(`${name} = ${this.of(schema, name)}\n`);
    else this.#writeFields(schema.properties, schema, name);
  }

  /** The schema itself, or the named one that it refers to. */
  resolve(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : (this.#schemas[nameOf(schema.$ref)] ?? {});
  }

  /** The Python type of a schema. An object without a name is named after its field. */
  of(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) {
      this.declare(nameOf(schema.$ref));
      return nameOf(schema.$ref);
    }
    const union = schema.anyOf ?? schema.oneOf;
    if (union) return `Union[${union.map((part) => this.of(part, name)).join(', ')}]`;
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    if (schema.items) return `list[${this.of(schema.items, name.replace(/s$/, ''))}]`;
    if (schema.properties === undefined) return scalars[schema.type ?? ''] ?? 'dict[str, Any]';
    if (this.#names.has(name))
      throw new Error(`Two objects without a name would be ${name}: name one in components.`);
    this.#names.add(name);
    this.#writeFields(schema.properties, schema, name);
    return name;
  }

  /** Declares the fields by a call, because a field can have the name of a keyword, such as \`from\`. */
  #writeFields(
    properties: Readonly<Record<string, Schema>>,
    { required = [], description }: Schema,
    name: string,
  ) {
    const fields = Object.entries(properties).map(([field, schema]) => {
      const type = this.of(schema, name + pascal(field));
      const shown = required.includes(field) ? type : `NotRequired[${type}]`;
      return `${comment(schema.description, '        ')}        "${field}": ${shown},\n`;
    });
    this.declarations.push(
      `${comment(description, '')}${name} = TypedDict(\n    "${name}",\n    {\n${fields.join('')}    },\n)\n`,
    );
  }
}

const scalars: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** Writes a JSON literal in Python: only true, false and null differ. */
function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

const comment = (text: string | undefined, indentation: string): string =>
  text === undefined ? '' : `${indentation}# ${text.replaceAll('\n', `\n${indentation}# `)}\n`;

export function pascal(name: string): string {
  return name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_match, letter: string) =>
    letter.toUpperCase(),
  );
}
