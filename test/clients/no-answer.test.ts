import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isUnsent, reasonOf } from '../../clients/typescript/src/no-answer.ts';

/** An error of a connection as Node gives it, such as `connect ECONNREFUSED`. */
function failure(text: string): NodeJS.ErrnoException {
  const [code = '', syscall = ''] = text.split(' ').reverse();
  return Object.assign(new Error(text), { code, syscall });
}

/** The error if no address of a host can be reached. Its code is that of the first address. */
const failureOfAll = (failures: readonly NodeJS.ErrnoException[]) =>
  Object.assign(new AggregateError(failures), { code: failures[0]?.code });

const refused = 'connection refused. Is the service running at this address?';

describe('the reason why fetch failed, in the client for TypeScript (specification section 4.3)', () => {
  for (const [addresses, reason, isSent] of [
    [['connect ETIMEDOUT', 'connect ECONNREFUSED'], refused, false],
    [['connect ECONNREFUSED', 'connect ETIMEDOUT'], 'time-out of the connection', false],
    [['connect ECONNREFUSED'], refused, false],
    [['connect EACCES'], 'connect EACCES', false],
    [['connect EHOSTUNREACH'], 'no route to the host', false],
    [['UND_ERR_CONNECT_TIMEOUT'], 'time-out of the connection', false],
    [['getaddrinfo ENOTFOUND'], 'unknown host: its name was not resolved', false],
    [['SELF_SIGNED_CERT_IN_CHAIN'], 'TLS failed: the certificate is not trusted', false],
    [['read ETIMEDOUT'], 'read ETIMEDOUT', true],
    [['read EHOSTUNREACH'], 'read EHOSTUNREACH', true],
  ] as const)
    it(`after the connection errors ${addresses.join(' and then ')} the client says that the request ${isSent ? 'may have arrived' : 'cannot have arrived'}`, () => {
      const [first, ...others] = addresses.map(failure);
      const cause = others.length > 0 ? failureOfAll(addresses.map(failure)) : first;
      const error = new TypeError('fetch failed', { cause });
      assert.equal(reasonOf(error), reason);
      assert.equal(isUnsent(error), !isSent);
    });
});
