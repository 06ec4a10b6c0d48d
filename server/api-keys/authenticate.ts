import type { FastifyRequest } from 'fastify';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError, tooManyRequests } from '#server/platform/app-error.ts';
import type { Principal } from '#server/platform/http/route.ts';
import { MinuteLimit } from '#server/platform/minute-limit.ts';
import { onceThere, type Soon } from '#server/platform/soon.ts';
import { sourceOf } from '#server/platform/source-of.ts';
import { isWellFormedKey } from './api-key.ts';
import type { KeyUses } from './key-uses.ts';
import { LiveKeys } from './live-keys.ts';

/** Refused keys that one source may try in a minute before it is told to wait: no list of keys is worth trying. */
const refusedPerMinute = 60;
/**
 * What is looked up in a minute for a source beyond that, of keys that this process has not let in yet: a good one may
 * be among them, and a list of wrong ones costs the database no more than this.
 */
export const looksPerMinute = 120;

/** Who holds the key of a request: 401 where it is missing or not valid, 429 where one source tries many. */
export function createAuthenticate({
  database,
  clock,
  config,
  uses,
}: Pick<Runtime, 'database' | 'clock' | 'config'> & { readonly uses: KeyUses }) {
  const refused = new MinuteLimit(clock, refusedPerMinute);
  const looks = new MinuteLimit(clock, looksPerMinute);
  const keys = new LiveKeys({ database, clock });

  const tooMany = () => tooManyRequests(60 - Math.floor((clock.nowMs() / 1_000) % 60));

  /** A good key from the same source goes on working: only refusals are counted and held back. */
  const refuse = ({ ip }: FastifyRequest, message: string): AppError =>
    !config.rateLimits || refused.allows(sourceOf(ip)) ? new AppError('unauthorized', message) : tooMany();

  const mayLookUp = ({ ip }: FastifyRequest): boolean => {
    if (!config.rateLimits) return true;
    const source = sourceOf(ip);
    return !refused.isUsedUp(source) || looks.allows(source);
  };

  return (request: FastifyRequest): Soon<Principal> => {
    const key = String(request.headers['x-api-key'] ?? '');
    if (key === '') throw refuse(request, 'Send your API key in the header x-api-key.');
    // One that was good before is not held against its check digits again, nor against the limits of its source.
    const wasGood = keys.remembers(key);
    const isKey = wasGood || isWellFormedKey(key);
    if (isKey && !wasGood && !mayLookUp(request)) throw tooMany();
    return onceThere(isKey ? keys.find(key) : undefined, (found) => {
      if (!found) throw refuse(request, 'This API key is not valid: mistyped, revoked or of another server.');
      uses.note(found.id);
      return found.principal;
    });
  };
}
