import { readdirSync } from 'node:fs';

const migrations = readdirSync(new URL('./migrations/', import.meta.url));

/** The version of the schema that this code needs: the number of its last migration. */
export const schemaVersion = Math.max(...migrations.map((name) => Number.parseInt(name, 10) || 0));
