import { exampleIds } from '#contract/example-values.ts';
import {
  AppError,
  bodyTooLarge,
  forbidden,
  notFound,
  tooManyRequests,
  unavailable,
  unreadable,
} from '#server/platform/app-error.ts';
import { type Example, type Examples, firstSuccess } from './example.ts';
import { bodyMaxBytes } from './limits.ts';
import type { Route } from './route.ts';
import { unknownParameter } from './validate.ts';
import { validationError } from './validation-error.ts';

/** The example of a request that an error answers. */
function refusalBy(error: AppError, summary: string, request: Partial<Example> = {}): Example {
  return { ...request, summary, status: error.status, answer: error.envelope() };
}

/** Examples of the refusals that every operation gives with the same text, by status. */
export const examplesOfEveryOperation: Readonly<Record<number, Examples>> = {
  401: {
    no_key: refusalBy(
      new AppError('unauthorized', 'Send your API key in the header x-api-key.'),
      'No API key',
      { headers: { 'x-api-key': '' } },
    ),
    wrong_key: refusalBy(
      new AppError(
        'unauthorized',
        'This API key is not valid: it is mistyped, revoked or from another server. Use or create another key.',
      ),
      'A mistyped or revoked API key',
      { headers: { 'x-api-key': 'own_live_mistyped' } },
    ),
  },
  415: {
    not_json: refusalBy(
      unreadable('Send the body with Content-Type: application/json.', 415),
      'A body that is not declared as JSON',
      { headers: { 'content-type': 'text/plain' } },
    ),
  },
  429: { too_many_requests: refusalBy(tooManyRequests(41), 'The requests of this minute are used up') },
  500: {
    server_failed: refusalBy(
      unavailable('Something went wrong on our side. Repeat the request in a moment.', { status: 500 }),
      'Something failed on the server',
    ),
  },
  503: {
    over_capacity: refusalBy(
      unavailable(
        'Too many requests at once: 3 run and 1000 wait. Repeat the request in a moment, with fewer at a time.',
      ),
      'More requests at once than a team may have',
    ),
  },
};

/**
 * Examples of the refusals that follow from the route: an unknown field or parameter, an unknown id, the permission, and
 * the size of the body.
 */
export function examplesOfRoute(route: Route): Examples {
  const { method, permission, admission } = route;
  const unknownId = notFoundExample(route);
  const lacking = `This API key lacks the permission ${permission}. Use or create a key that has it.`;
  return {
    unknown_name: unknownNameExample(route),
    ...(unknownId ? { unknown_id: unknownId } : {}),
    no_permission: refusalBy(forbidden(lacking), 'The API key lacks the permission'),
    ...(method === 'GET'
      ? {}
      : {
          body_too_large: refusalBy(
            bodyTooLarge(admission?.bodyMaxBytes ?? bodyMaxBytes),
            'A body that is too large',
          ),
        }),
  };
}

/**
 * A 400 for a field that the operation does not have. If the operation has no body, the example is for a query
 * parameter.
 */
function unknownNameExample({ body, query }: Route): Example {
  const unknown = { verbose: true };
  return body
    ? refusalBy(validationError(body, unknown), 'A field that the operation does not have', { body: unknown })
    : refusalBy(
        unknownParameter('verbose', Object.keys(query?.properties ?? {})),
        'A query parameter that the operation does not have',
        { query: unknown },
      );
}

/** A 404 for an id that the team does not have, if the operation declares one and has no example of its own. */
function notFoundExample({ path, ids, text }: Route): Example | undefined {
  const { examples = {} } = text ?? {};
  const isOwn = Object.values(examples).some(({ status }) => status === 404);
  const [, plural = '', param = ''] = [...path.matchAll(/(\w+)\/:(\w+)/g)].at(-1) ?? [];
  const success = firstSuccess(examples);
  const id = success?.params?.[param];
  if (!ids || isOwn || !success || id === undefined) return undefined;
  const noun = plural.replace(/ies$/, 'y').replace(/s$/, '');
  const params = { ...success.params, [param]: exampleIds.unknown(id.slice(0, id.indexOf('_'))) };
  return refusalBy(notFound(noun), `The team has no ${noun} with this id`, { ...success, params });
}
