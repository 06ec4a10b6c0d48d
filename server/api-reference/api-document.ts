import { components } from '#contract/components.ts';
import { contactParameter } from '#contract/opt-out.ts';
import { openApiDocument } from '#server/http/openapi.ts';
import type { Route } from '#server/http/route.ts';
import type { Config } from '#server/platform/config.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { deliveryHeaderTexts, deliveryRequestTexts } from '#server/webhooks/dispatch/request-texts.ts';

/** Creates the OpenAPI document of /v1 with its introduction, its sections and the requests to webhooks. */
export function createApiDocument({ baseUrl }: Pick<Config, 'baseUrl'>, routes: readonly Route[]) {
  return openApiDocument(routes, {
    title: 'Ownline API',
    version: productVersion,
    description: introduction,
    baseUrl,
    tags,
    components,
    parameters: { contact: contactParameter },
    errorResponses,
    outgoing: { tag: 'Event deliveries', headers: deliveryHeaderTexts, requests: deliveryRequestTexts },
  });
}

const introduction = `Send and receive iMessages through your own iPhones.

Every request carries an API key in \`x-api-key\`. The key needs the permission that the operation names.
\`messages:send\` includes \`messages:read\`, and \`*\` includes all; no other permission includes another one.

Bodies are JSON. Unknown fields and parameters are refused. Every answer carries \`request-id\`. An answer that is not 2xx has a body of the shape \`Error\`, whose message
says what to do next. An unknown address is answered with 404, and a method that an address does not take with 405 and
\`allow\`.

Fields and operations may be added within v1; nothing is removed or changes its meaning, so ignore fields that you do
not know.`;

const tags = {
  Messages: 'Send messages, and read what was sent and received.',
  Numbers: 'Connect iPhones, pause and remove them.',
  'Opt-outs': 'List the contacts that opted out, and opt contacts out or in.',
  Events: 'Read what happened, once and in order, if your program polls instead of receiving webhooks.',
  Webhooks: 'Send events to a URL of yours, read the deliveries, and send them again.',
  'Event deliveries': 'The requests that the server sends to the URL of a webhook, with their signatures.',
  Team: 'The team that the API key belongs to.',
  Members: 'The people of the team with their roles, and the invitations.',
};

const errorResponses: Readonly<Record<number, string>> = {
  400: 'The request is malformed, or a field, parameter or header is not valid; `param` names it.',
  401: 'The API key is missing or not valid.',
  402: 'A limit of the plan is reached.',
  403: 'The API key lacks the permission.',
  404: 'The team has nothing with this id.',
  409: 'The request conflicts with the current state.',
  413: 'The body is larger than 16 KiB, or of a message larger than 128 KiB.',
  415: 'The body is not sent with `Content-Type: application/json`.',
  429: 'Too many requests; `retry-after` says how long to wait.',
  500: 'Something failed on the server; repeat the request.',
  503: 'The server is at its capacity or stopping; repeat the request after `retry-after`.',
};
