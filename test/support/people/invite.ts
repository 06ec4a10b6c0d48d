import assert from 'node:assert/strict';
import type { GivenRole } from '#contract/permissions.ts';
import { MailHealth } from '#server/mail/mail-health.ts';
import { operator } from '#server/platform/actor.ts';
import { inviteMember } from '#server/teams/invitations/invitations.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { type ApiAnswer, type ApiClient, field } from '#test/support/service/api-client.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';

export const dayMs = 24 * 3_600_000;

/** The answer to a person who invites without SMTP. */
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

/** Invites an address as the operator, so that no inviting member takes a seat. The service sends no mail. */
export async function invite(
  { runtime }: Pick<TestService, 'runtime'>,
  team: Pick<TestTeam, 'id'>,
  email: string,
  role: GivenRole = 'member',
): Promise<Made> {
  const services = { ...runtime, mailHealth: new MailHealth() };
  const { accept_url, ...made } = await inviteMember(services, team.id, { email, role }, operator);
  assert.ok(accept_url, 'the service sends no mail');
  return { ...made, accept_url };
}

/** Addresses on the first page of the list, newest first. */
export const listed = async (api: ApiClient) =>
  ((await api.get('/v1/team/invitations')).json.invitations as Made[]).map(({ email }) => email);

/** True if the link opens an invitation that can be accepted. */
export const opens = async (service: TestService, { accept_url }: Made) =>
  (await new Browser(service.baseUrl).open(new URL(accept_url).pathname)).status === 200;
