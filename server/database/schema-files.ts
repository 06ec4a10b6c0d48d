import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('./schema/', import.meta.url);

/** The SQL of the schema: a file for each slice, in the order of their foreign keys. */
export const schemaFiles: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => readFileSync(new URL(name, folder), 'utf8'));
