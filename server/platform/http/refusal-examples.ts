import { type Examples, refusal } from './example.ts';
import { bodyMaxBytes } from './limits.ts';
import type { Route } from './route.ts';

/** Examples of the refusals that every operation gives with the same text, by status. */
export const examplesOfEveryOperation: Readonly<Record<number, Examples>> = {
  401: {
    no_key: refusal('No API key', { headers: { 'x-api-key': '' } }, [
      401,
      'unauthorized',
      'Send your API key in the header x-api-key.',
    ]),
    wrong_key: refusal('A mistyped or revoked API key', { headers: { 'x-api-key': 'own_live_mistyped' } }, [
      401,
      'unauthorized',
      'This API key is not valid: it is mistyped, revoked or from another server. Use or create another key.',
    ]),
  },
  415: {
    not_json: refusal('A body that is not declared as JSON', { headers: { 'content-type': 'text/plain' } }, [
      415,
      'invalid_request',
      'Send the body with Content-Type: application/json.',
    ]),
  },
  429: {
    too_many_requests: refusal('The requests of this minute are used up', {}, [
      429,
      'rate_limited',
      'Too many requests. Retry in 41 seconds.',
    ]),
  },
  500: {
    server_failed: refusal('Something failed on the server', {}, [
      500,
      'internal_error',
      'Something went wrong on our side. Repeat the request in a moment.',
    ]),
  },
  503: {
    over_capacity: refusal('More requests at once than a team may have', {}, [
      503,
      'internal_error',
      'Too many requests at once: 3 run and 1000 wait. Repeat the request in a moment, with fewer at a time.',
    ]),
  },
};

/** Examples of the refusals whose text follows from the route: the permission and the size of the body. */
export function examplesOfRoute({ method, permission, bodyLimitBytes = bodyMaxBytes }: Route): Examples {
  const noPermission = refusal('The API key lacks the permission', {}, [
    403,
    'forbidden',
    `This API key lacks the permission ${permission}. Use or create a key that has it.`,
  ]);
  if (method === 'GET') return { no_permission: noPermission };
  const tooLarge = refusal('A body that is too large', {}, [
    413,
    'invalid_request',
    `The body is too large. Send at most ${bodyLimitBytes / 1_024} KiB.`,
  ]);
  return { no_permission: noPermission, body_too_large: tooLarge };
}
