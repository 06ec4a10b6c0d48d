import type { Role } from '#contract/permissions.ts';
import { makeAccount } from '#server/accounts/make-account.ts';
import { openSession } from '#server/accounts/open-session.ts';
import { type AccountId, type MemberId, publicId } from '#server/platform/ids.ts';
import { insertMember } from '#server/teams/member-store.ts';
import { lockTeam } from '#server/teams/team-store.ts';
import { type ApiAnswer, ApiClient } from './api-client.ts';
import type { TestService, TestTeam } from './test-service.ts';

/** A person's browser: the cookie of a session, and the header by which a page says that it is our own. */
export class PersonClient extends ApiClient {
  readonly cookie: string;

  constructor(baseUrl: string, cookie: string) {
    super(baseUrl, '');
    this.cookie = cookie;
  }

  override request(
    method: string,
    path: string,
    options: Parameters<ApiClient['request']>[2] = {},
  ): Promise<ApiAnswer> {
    const headers = { cookie: this.cookie, 'sec-fetch-site': 'same-origin', ...options.headers };
    return super.request(method, path, { ...options, headers });
  }
}

export interface Person {
  readonly accountId: AccountId;
  readonly email: string;
  readonly memberId: MemberId;
  readonly publicMemberId: string;
  /** Asks below /app as this person: `/app/account`. */
  readonly app: PersonClient;
  /** `/app/teams/team_…`, for what follows. */
  readonly teamPath: string;
}

let made = 0;

/** A person with an account, a membership and a session, made by the use cases that the links lead to. */
export async function newPerson(service: TestService, team: TestTeam, role: Role): Promise<Person> {
  made += 1;
  const email = `person-${made}-${role}@example.com`;
  const { database, ids, clock } = service.runtime;
  const by = { ip: '127.0.0.1', requestId: '' };
  const { accountId, memberId, setCookie } = await database.transaction(async (trx) => {
    await lockTeam(trx, team.id);
    const account = await makeAccount(trx, service.runtime, {
      email,
      name: `Person ${made}`,
      passwordHash: undefined,
      ...by,
    });
    const member = ids.next('usr');
    await insertMember(trx, {
      team_id: team.id,
      id: member,
      account_id: account.id,
      role,
      created_at: clock.now(),
    });
    const request = { ip: '127.0.0.1', id: '', headers: {} };
    const cookie = await openSession(trx, service.runtime, account, 'invitation', request);
    return { accountId: account.id, memberId: member, setCookie: cookie };
  });
  return {
    accountId,
    email,
    memberId,
    publicMemberId: publicId('usr', memberId),
    app: new PersonClient(service.baseUrl, setCookie.split(';')[0] ?? ''),
    teamPath: `/app/teams/${team.publicId}`,
  };
}
