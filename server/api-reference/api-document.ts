import type { Route } from '#server/http/route.ts';
import type { Config } from '#server/platform/config.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { deliveryHeaderTexts, deliveryRequestTexts } from '#server/webhooks/dispatch/request-texts.ts';
import { answerHeaders, headerParameter, operation, outgoingRequest, sharedParts } from './openapi.ts';
import type { Json } from './openapi-schema.ts';

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
  Contacts: 'Give names to the people whom the team writes to.',
  Events: 'Read what happened, once and in order, if your program polls instead of receiving webhooks.',
  Webhooks: 'Send events to a URL of yours, read the deliveries, and send them again.',
  'Event deliveries': 'The requests that the server sends to the URL of a webhook, with their signatures.',
  Team: 'The team that the API key belongs to.',
  Members: 'The people of the team with their roles, and the invitations.',
};

const outgoingTag: keyof typeof tags = 'Event deliveries';

/** Creates the OpenAPI 3.1 document of /v1 from the route table that serves it (specification section 9). */
export function createApiDocument({ baseUrl }: Config, routes: readonly Route[]): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    if (route.audience !== 'api' || route.text === undefined) continue;
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, route.text) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ownline API',
      version: productVersion,
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The operator of this server', url: baseUrl },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths,
    webhooks: Object.fromEntries(
      deliveryRequestTexts.map((text) => [
        text.type,
        { post: outgoingRequest(text, outgoingTag, deliveryHeaderTexts) },
      ]),
    ),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'An API key of the team, sent in `x-api-key`.',
        },
      },
      headers: answerHeaders,
      parameters: Object.fromEntries(
        deliveryHeaderTexts.map((header) => [header.name, headerParameter(header)]),
      ),
      ...sharedParts(),
    },
  };
}
