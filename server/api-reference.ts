import { createHash } from 'node:crypto';
import { fastify } from 'fastify';
import { Type } from 'typebox';
import { components } from '#contract/components.ts';
import { publicIdOf } from '#contract/schema.ts';
import { openApiDocument } from '#server/platform/http/openapi.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { productVersion } from '#server/platform/product-version.ts';
import type { Config } from './config.ts';

/** /v1/openapi.json and the page that shows it to people, /docs (specification section 9). Neither needs a key. */
export function apiReferenceRoutes(config: Config, routes: readonly Route[]): Route[] {
  const document = openApiDocument(routes, {
    title: 'Ownline API',
    version: productVersion,
    description: introduction,
    baseUrl: config.baseUrl,
    tags,
    components,
    parameters: {
      'numbers.id': publicIdOf('num', 'The id of the number.'),
      'messages.id': publicIdOf('msg', 'The id of the message.'),
      'members.id': publicIdOf('usr', 'The id of the membership.'),
      'invitations.id': publicIdOf('inv', 'The id of the invitation.'),
      'webhooks.id': publicIdOf('wh', 'The id of the webhook.'),
      'deliveries.delivery_id': publicIdOf('dlv', 'The id of the delivery.'),
    },
    refusals,
  });
  const rendered = once(renderReference);
  return [
    route({
      method: 'GET',
      path: '/v1/openapi.json',
      audience: 'page',
      answers: { 200: Type.Unknown() },
      handle: async () => ({ body: document }),
    }),
    route({
      method: 'GET',
      path: '/docs',
      audience: 'page',
      answers: { 200: Type.String() },
      handle: async () => {
        const { page, policy } = await rendered();
        return { body: page, headers: { ...pageHeaders, 'content-security-policy': policy } };
      },
    }),
    route({
      method: 'GET',
      path: '/docs/js/scalar.js',
      audience: 'page',
      answers: { 200: Type.String() },
      handle: async () => ({
        body: (await rendered()).script,
        headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'max-age=3600' },
      }),
    }),
  ];
}

const introduction = `Send and receive iMessages through your own iPhones.

Every request carries an API key in \`x-api-key\`. Bodies are JSON; a field or parameter that is not known is refused.
Every answer carries \`request-id\`. What is not 2xx has a body of the shape \`Error\`, whose message says what to do next:
also what belongs to no operation, 404 for an unknown address and 405 with \`allow\` for a method that it does not take.

Fields and operations may be added within v1; nothing is removed or changes its meaning, so ignore fields that you do
not know.`;

const tags = {
  Messages: 'Send messages, and read what was sent and received.',
  Numbers: 'Connect iPhones, pause and remove them.',
  Webhooks: 'Have events sent to an address of yours, see what was sent, and have it sent again.',
  Events: 'Everything that happened, once and in order: for systems that would rather ask than be told.',
  Team: 'The team that the API key belongs to.',
  Members: 'Who is in the team and what they may do, and who is invited.',
};

const refusals: Readonly<Record<number, string>> = {
  400: 'The request is malformed, or a field, parameter or header is not valid; `param` names it.',
  401: 'The API key is missing or not valid.',
  402: 'The plan’s limit is reached.',
  403: 'The API key lacks the permission.',
  404: 'There is no such thing in this team.',
  409: 'It collides with what is there.',
  413: 'The body is larger than 256 KiB.',
  415: 'The body is not sent with `Content-Type: application/json`.',
  429: 'Too many requests; `retry-after` says how long to wait.',
  500: 'Something failed on the server; repeat the request.',
  503: 'The server is at its capacity or stopping; repeat the request after `retry-after`.',
};

const pageHeaders = { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' };

/** The renderer loads nothing from elsewhere and calls nobody but this server. Its styles are inline; its scripts are named. */
function contentSecurityPolicy(page: string): string {
  const inline = [...page.matchAll(/<script[^>]*>([^<]+)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return (
    `default-src 'none'; script-src 'self' ${inline.join(' ')}; style-src 'self' 'unsafe-inline'; ` +
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src blob:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}

interface Reference {
  readonly page: string;
  readonly policy: string;
  readonly script: string;
}

/**
 * The page and its script. The renderer is a Fastify plugin with 4 MB of script inside: it is loaded when somebody
 * first opens the page, in a server of its own that never listens, so that ours keeps its one table of routes.
 */
async function renderReference(): Promise<Reference> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const renderer = fastify();
  await renderer.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      url: '/v1/openapi.json',
      pageTitle: 'Ownline API',
      cdn: '/docs/js/scalar.js',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
  const page = await renderer.inject('/docs/');
  const script = await renderer.inject('/docs/js/scalar.js');
  await renderer.close();
  return { page: page.body, policy: contentSecurityPolicy(page.body), script: script.body };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
