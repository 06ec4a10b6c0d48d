import { createRequire } from 'node:module';
import type { Client as AnyClient } from 'undici';

/**
 * Loads the client of undici alone, because undici's fetch, caches and web sockets would cost 14 MB, and 150 ms of
 * every start.
 */
export const Client: typeof AnyClient = createRequire(import.meta.url)('undici/lib/dispatcher/client.js');
