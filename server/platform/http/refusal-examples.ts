import { exampleIds } from '#contract/example-values.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type Example, type Examples, firstSuccess, refusal } from './example.ts';
import { bodyMaxBytes } from './limits.ts';
import type { Route } from './route.ts';
import { unknownParameter } from './validate-query.ts';
import { validationError } from './validation-error.ts';

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

/**
 * Examples of the refusals that follow from the route: an unknown field or parameter, an unknown id, the permission, and
 * the size of the body.
 */
export function examplesOfRoute(route: Route): Examples {
  const { method, permission, bodyLimitBytes = bodyMaxBytes } = route;
  const unknownId = notFoundExample(route);
  return {
    unknown_name: unknownNameExample(route),
    ...(unknownId ? { unknown_id: unknownId } : {}),
    no_permission: refusal('The API key lacks the permission', {}, [
      403,
      'forbidden',
      `This API key lacks the permission ${permission}. Use or create a key that has it.`,
    ]),
    ...(method === 'GET'
      ? {}
      : {
          body_too_large: refusal('A body that is too large', {}, [
            413,
            'invalid_request',
            `The body is too large. Send at most ${bodyLimitBytes / 1_024} KiB.`,
          ]),
        }),
  };
}

/** A 400 for a field that the operation does not have. Without a body, it is for a query parameter. */
function unknownNameExample({ body, query }: Route): Example {
  const param = 'verbose';
  const { message } = body
    ? validationError(body, { [param]: true })
    : unknownParameter(param, Object.keys(query?.properties ?? {}));
  return refusal(
    `A ${body ? 'field' : 'query parameter'} that the operation does not have`,
    body ? { body: { [param]: true } } : { query: { [param]: true } },
    [400, 'invalid_request', message],
    { param },
  );
}

/** A 404 for an id that the team does not have, if the operation declares one and has no example of its own. */
function notFoundExample({ path, text }: Route): Example | undefined {
  const { errorStatuses = [], examples = {} } = text ?? {};
  const isOwn = Object.values(examples).some(({ status }) => status === 404);
  const [, plural = '', param = ''] = [...path.matchAll(/(\w+)\/:(\w+)/g)].at(-1) ?? [];
  const success = firstSuccess(examples);
  const id = success?.params?.[param];
  if (!errorStatuses.includes(404) || isOwn || !success || id === undefined) return undefined;
  const noun = plural.replace(/ies$/, 'y').replace(/s$/, '');
  const unknown = exampleIds.unknown(id.slice(0, id.indexOf('_')));
  return {
    ...success,
    ...refusal(`The team has no ${noun} with this id`, { params: { ...success.params, [param]: unknown } }, [
      404,
      'not_found',
      notFound(noun).message,
    ]),
  };
}
