import type { SignInMethod } from '#contract/account.ts';
import type { Role } from '#contract/permissions.ts';
import { type AccountRow, createAccount, findAccount } from '#server/accounts/account/account.ts';
import { hashPassword } from '#server/accounts/account/password.ts';
import { createAccountSession } from '#server/accounts/sessions/session.ts';
import { operator } from '#server/platform/actor.ts';
import { publicId } from '#server/platform/ids.ts';
import { joinTeam } from '#server/teams/invitations/join-team.ts';
import { lockTeam } from '#server/teams/team/team.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'baseUrl' | 'runtime'>;

/** A client of the dashboard's addresses, like its pages in a browser: authenticated by cookie, without a key. */
export class PageClient extends ApiClient {
  /** Cookie header, `ownline=…`; '' for a visitor. */
  readonly cookie: string;

  constructor(baseUrl: string, cookie: string) {
    super(baseUrl, '');
    this.cookie = cookie;
  }

  override request(...[method, path, options = {}]: Parameters<ApiClient['request']>) {
    const headers = {
      'sec-fetch-site': 'same-origin',
      ...(this.cookie === '' ? {} : { cookie: this.cookie }),
      ...options.headers,
    };
    return super.request(method, path, { ...options, headers });
  }
}

/** A person with an account and a session. */
export class Person extends PageClient {
  readonly account: AccountRow;

  constructor(baseUrl: string, account: AccountRow, cookie: string) {
    super(baseUrl, cookie);
    this.account = account;
  }

  get email(): string {
    return this.account.email;
  }
}

export class TeamMember extends Person {
  readonly team: Pick<TestTeam, 'publicId'>;
  /** Public id, `usr_…`. */
  readonly memberId: string;

  constructor(person: Person, team: Pick<TestTeam, 'publicId'>, memberId: string) {
    super(person.baseUrl, person.account, person.cookie);
    this.team = team;
    this.memberId = memberId;
  }

  /** The member's address for a path below /v1: `/app/teams/team_…/numbers` for `/numbers`. */
  in(path: string): string {
    return `/app/teams/${this.team.publicId}${path}`;
  }
}

interface PersonOptions {
  readonly email?: string;
  readonly name?: string;
  readonly password?: string;
  /** If false, the account accepted an invitation whose link was shown, not mailed. */
  readonly isEmailVerified?: boolean;
  /** Method by which the session began. */
  readonly method?: SignInMethod;
}

let made = 0;

/** An address that this test file has not used yet. */
export function newEmail(): string {
  made += 1;
  return `guest${made}@example.com`;
}

/** Makes an account and a session. By default each account has a different address. */
export async function newPerson(service: Service, options: PersonOptions = {}): Promise<Person> {
  made += 1;
  const { email = `person${made}@example.com`, name = `Person ${made} Example` } = options;
  const { method = 'link', isEmailVerified = true } = options;
  const passwordHash = options.password === undefined ? undefined : await hashPassword(options.password);
  const { runtime } = service;
  const account = await runtime.database.transaction(async (trx) => {
    const input = { email, name, passwordHash, isEmailVerified, request: { ip: '127.0.0.1', id: '' } };
    const { id } = await createAccount(trx, runtime, input);
    // The account is read again, so that the result has its password.
    return findAccount(trx, { accountId: id });
  });
  if (!account) throw new Error('the account does not exist');
  return new Person(service.baseUrl, account, await newCookie(service, account, method));
}

/** Makes a further session of an account. @returns the Cookie header */
export async function newCookie(
  { runtime }: Service,
  account: AccountRow,
  method: SignInMethod = 'link',
): Promise<string> {
  const request = { ip: '127.0.0.1', id: runtime.ids.nextPublic('req'), headers: { 'user-agent': 'test' } };
  const [header = ''] = await createAccountSession(runtime.database.pool, runtime, account, method, request);
  return header.split(';')[0] ?? '';
}

/** Adds a person to a team with the use case of accepting an invitation. @throws 402 if the plan has no free seat */
export async function join(
  { runtime }: Service,
  team: Pick<TestTeam, 'id' | 'publicId'>,
  person: Person,
  role: Role,
): Promise<TeamMember> {
  const memberId = await runtime.database.transaction(async (trx) => {
    const row = await lockTeam(trx, { teamId: team.id });
    if (!row) throw new Error('the team does not exist');
    return joinTeam(trx, runtime, row, {
      account: person.account,
      role,
      by: operator,
    });
  });
  return new TeamMember(person, team, publicId('usr', memberId));
}

/** Makes a person and adds them to a team. */
export async function newMember(
  service: Service,
  team: Pick<TestTeam, 'id' | 'publicId'>,
  role: Role,
  options: PersonOptions = {},
): Promise<TeamMember> {
  return join(service, team, await newPerson(service, options), role);
}
