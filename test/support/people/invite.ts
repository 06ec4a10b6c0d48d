import assert from 'node:assert/strict';
import { Browser } from '#test/support/browser/browser-client.ts';
import { type ApiAnswer, type ApiClient, field } from '#test/support/service/api-client.ts';
import type { TestService } from '#test/support/service/test-service.ts';

export const dayMs = 24 * 3_600_000;

/** The answer to an invite without SMTP. */
export interface Made {
  readonly invitation_id: string;
  readonly email: string;
  readonly role: string;
  readonly expires_at: string;
  readonly accept_url: string;
}

export function assertRefused(answer: ApiAnswer, status: number, code: string, param?: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.deepEqual([field(answer.json, 'error.code'), field(answer.json, 'error.param')], [code, param]);
}

export const ask = (api: ApiClient, email: unknown, role: unknown = 'member') =>
  api.post('/v1/team/members/invite', { email, role });

export async function invite(api: ApiClient, email: string, role = 'member'): Promise<Made> {
  const answer = await ask(api, email, role);
  assert.equal(answer.status, 201, answer.text);
  return answer.json as unknown as Made;
}

/** Addresses on the first page of the list, newest first. */
export const listed = async (api: ApiClient) =>
  ((await api.get('/v1/team/invitations')).json.invitations as Made[]).map(({ email }) => email);

/** True if the link opens an invitation that can be accepted. */
export const opens = async (service: TestService, { accept_url }: Made) =>
  (await new Browser(service.baseUrl).open(new URL(accept_url).pathname)).status === 200;
