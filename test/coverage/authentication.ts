import type { Coverage } from './coverage-table.ts';

/** Section 5. */
export const authentication: Coverage = {
  '5.1 Every /v1 request carries': {
    'http/access-matrix.slow.test.ts': [
      'answers 401 for a missing, empty, mistyped, unknown, foreign-looking or revoked key, on every operation',
    ],
    'api-keys/authentication.test.ts': [
      'makes keys of own_live_, 32 random base62 characters and 6 of their CRC-32',
      'never asks the database about a mistyped key',
      'keeps no key in the database, only its hash',
      'stops a revoked key within a second, on every process',
    ],
  },
  '5.2 team:read, team:write, numbers:read, numbers:write': {
    'http/access-matrix.slow.test.ts': [
      'every operation that is served is in this table with its permission, and no other',
      'lets each permission do what it names and nothing else, and * everything',
      'refuses a key that has every permission but the one, and changes nothing',
    ],
  },
};
