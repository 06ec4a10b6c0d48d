import { allows, type Grant } from '#contract/permissions.ts';
import { texts } from './texts.ts';

export const languages = ['curl', 'Node', 'Python'] as const;
export type Language = (typeof languages)[number];

export interface SampleRequest {
  readonly method: 'GET' | 'POST';
  /** The path below APP_URL. */
  readonly path: string;
  readonly body?: Readonly<Record<string, string>>;
}

/**
 * The sample request for a key's permissions.
 * @param from a number of the team
 * @param to the recipient
 * @returns undefined if the permissions only allow changes
 */
export function firstRequest(grants: readonly Grant[], from: string, to: string): SampleRequest | undefined {
  if (allows(grants, 'messages:send')) {
    const body = { from, to, content: texts.created.sample };
    return { method: 'POST', path: '/v1/messages/send', body };
  }
  if (allows(grants, 'messages:read')) return { method: 'GET', path: '/v1/messages?limit=10' };
  if (allows(grants, 'numbers:read')) return { method: 'GET', path: '/v1/numbers' };
  if (allows(grants, 'webhooks:manage')) return { method: 'GET', path: '/v1/webhooks' };
  if (allows(grants, 'team:read')) return { method: 'GET', path: '/v1/team' };
  return undefined;
}

type Renderer = (request: SampleRequest, url: string, apiKey: string) => string;

/** Renders the sample request as a program that can be run. */
export const renderSample: Readonly<Record<Language, Renderer>> = {
  curl: ({ path, body }, url, apiKey) =>
    body
      ? `curl ${url}${path} \\
  -H 'x-api-key: ${apiKey}' -H 'content-type: application/json' \\
  -d '${JSON.stringify(body)}'`
      : `curl '${url}${path}' -H 'x-api-key: ${apiKey}'`,
  Node: ({ path, body }, url, apiKey) =>
    body
      ? `const answer = await fetch('${url}${path}', {
  method: 'POST',
  headers: { 'x-api-key': '${apiKey}', 'content-type': 'application/json' },
  body: JSON.stringify(${objectText(body)}),
});
console.log(answer.status, await answer.json());`
      : `const answer = await fetch('${url}${path}', {
  headers: { 'x-api-key': '${apiKey}' },
});
console.log(answer.status, await answer.json());`,
  Python: ({ path, body }, url, apiKey) => `import json, urllib.request
request = urllib.request.Request(
    '${url}${path}',${body ? `\n    data=json.dumps(${JSON.stringify(body)}).encode(),` : ''}
    headers={'x-api-key': '${apiKey}'${body ? ", 'content-type': 'application/json'" : ''}},
)
print(json.load(urllib.request.urlopen(request)))`,
};

function objectText(body: Readonly<Record<string, string>>): string {
  return `{ ${Object.entries(body)
    .map(([name, value]) => `${name}: '${value}'`)
    .join(', ')} }`;
}
