import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import {
  passwordHashesInFlightMax,
  passwordMaxCharacters,
  passwordMinCharacters,
} from '#server/accounts/limits.ts';
import { invalid, unavailable } from '#server/platform/app-error.ts';
import { KeyedSemaphore, type QueueBounds } from '#server/platform/concurrency/keyed-semaphore.ts';
import { Clock } from '#server/platform/time/clock.ts';

/** OWASP's first choice of argon2id parameters: 19 MiB, two passes, one lane. */
const memory = 19_456;
const passes = 2;
const parallelism = 1;
const tagLength = 32;
const saltLength = 16;
const waitingMax = 100;

const derive = promisify(argon2);
const hashing = new KeyedSemaphore({ clock: new Clock(), runningMax: passwordHashesInFlightMax });
const queue: QueueBounds = {
  name: 'password',
  waitingMax,
  waitMaxMs: Number.POSITIVE_INFINITY,
  refuse: () => unavailable('Too many people are signing in. Try again in a moment.'),
};

/** Checks the length of a new password, before it is hashed. @throws 400 if it is too short or too long */
export function validatePassword(password: string, param = 'password'): void {
  const { length } = [...password];
  if (length < passwordMinCharacters || length > passwordMaxCharacters) {
    throw invalid(
      param,
      `${param} must have ${passwordMinCharacters} to ${passwordMaxCharacters} characters. A sentence is easier to remember than a word.`,
    );
  }
}

/**
 * Hashes a new password. @returns the hash in the PHC form @throws 400 for a password of the wrong length; 503 if too
 * many calls wait
 */
export async function hashPassword(password: string, param = 'password'): Promise<string> {
  validatePassword(password, param);
  const salt = randomBytes(saltLength);
  const tag = await argon2id(password, salt);
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`;
}

/**
 * Hash that is checked for an account without a password, so that the check takes the usual time. It matches no
 * password.
 */
const dummyHash = `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(randomBytes(saltLength))}$${base64(randomBytes(tagLength))}`;

/**
 * Whether a password matches a hash. Without a hash the same work is done and the result is false (section 12.2).
 * @throws 503 if too many calls wait
 */
export async function checkPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  const [, , , , salt = '', tag = ''] = (hash ?? dummyHash).split('$');
  // No valid password is longer, so hashing the rest of a longer text would be wasted work.
  const given = await argon2id(password.slice(0, 2 * passwordMaxCharacters), Buffer.from(salt, 'base64'));
  return timingSafeEqual(given, Buffer.from(tag, 'base64')) && hash != null;
}

/** @throws 503 if too many calls wait */
function argon2id(password: string, nonce: Buffer): Promise<Buffer> {
  return hashing.run('', queue, () => {
    const message = Buffer.from(password.normalize('NFKC'), 'utf8');
    return derive('argon2id', { message, nonce, parallelism, tagLength, memory, passes });
  });
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
