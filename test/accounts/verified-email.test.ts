import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSignInOrOwnerLink } from '#server/teams/invitations/owner-link.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { putPasskey } from '#test/support/people/given-accounts.ts';
import { setInvitationToken } from '#test/support/people/given-invitations.ts';
import { invite as inviteTo } from '#test/support/people/invite.ts';
import { join, newCookie, newPerson } from '#test/support/people/people.ts';
import { storedAccount } from '#test/support/people/stored-accounts.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';

const password = 'a sentence that nobody guesses';

describe('an account that a stranger prepared for another person’s address (specification section 12.1)', () => {
  const service = givenService();
  let made = 0;

  const newEmail = () => {
    made += 1;
    return `ceo${made}@b.example`;
  };
  const enter = (email: string) => new Browser(service.baseUrl).signIn(email, password);
  const isVerified = async (email: string) => (await storedAccount(service, email)).isEmailVerified;

  async function invite(team: TestTeam, email: string): Promise<string> {
    return new URL((await inviteTo(service, team, email)).accept_url).pathname;
  }

  /**
   * Acts as an admin who keeps an invitation's link and creates an account for its address, with a password and a
   * session.
   */
  async function prepare(email: string): Promise<Browser> {
    const someone = new Browser(service.baseUrl);
    const link = await invite(await service.newTeam(), email);
    const { status, text } = await someone.submit(link, { name: 'Not the CEO', password });
    assert.equal(status, 303, text);
    return someone;
  }

  const operatorLink = async (email: string, team?: TestTeam) =>
    new URL((await createSignInOrOwnerLink(service.runtime, email, team?.id)).url).pathname;

  it('the first link that verifies an address ends the account’s earlier sessions, password and passkeys (§12.1/verified-address)', async () => {
    const email = newEmail();
    const someone = await prepare(email);
    await putPasskey(service, (await storedAccount(service, email)).id);
    assert.deepEqual([await isVerified(email), (await enter(email)).status], [false, 303]);

    const link = await operatorLink(email);
    const ceo = new Browser(service.baseUrl);
    assert.match((await ceo.open(link)).text, /signs it out everywhere else and removes its password/);
    assert.equal((await someone.get('/app/account')).status, 200, 'opening it changed nothing');
    assert.equal((await ceo.submit(link)).status, 303);

    assert.equal((await someone.get('/app/account')).status, 401);
    assert.equal((await enter(email)).status, 401);
    const { json } = await ceo.get('/app/account/passkeys');
    assert.deepEqual([json.passkeys, await isVerified(email)], [[], true]);
    const audit = await ceo.get('/app/account/audit');
    const entries = audit.json.entries as { action: string; details: unknown }[];
    assert.deepEqual(entries.find(({ action }) => action === 'account.address_proven')?.details, {
      password_removed: true,
      passkeys_removed: 1,
      sessions_ended: 2,
    });
    const teamB = await service.newTeam();
    assert.equal((await ceo.submit(await invite(teamB, email))).status, 303);
    assert.equal((await enter(email)).status, 401);
  });

  it('a second submit of the sign-in form does not sign in once a link has verified the address', async () => {
    const email = newEmail();
    const link = await invite(await service.newTeam(), email);
    const someone = new Browser(service.baseUrl);
    const form = { name: 'Not the CEO', password, form_token: 'of the form that made the account' };
    assert.equal((await someone.submit(link, form)).status, 303);
    service.clock.advance(1);
    await new Browser(service.baseUrl).submit(await operatorLink(email));
    assert.equal((await someone.submit(link, form)).status, 404);
    assert.equal((await someone.get('/app/account')).status, 401);
  });

  it('a later link leaves sessions, password and passkeys unchanged', async () => {
    const person = await newPerson(service, { password });
    const link = await operatorLink(person.email);
    const browser = new Browser(service.baseUrl);
    assert.doesNotMatch((await browser.open(link)).text, /removes its password/);
    assert.equal((await browser.submit(link)).status, 303);
    assert.equal((await person.get('/app/account')).status, 200);
    assert.equal((await enter(person.email)).status, 303);
  });

  it('an account with an unverified address joins no further team by an invitation, and the page has advice (§12.1/verified-address)', async () => {
    const email = newEmail();
    const someone = await prepare(email);
    const teamB = await service.newTeam();
    const link = await invite(teamB, email);
    assert.match(
      (await someone.open(link)).text,
      /nothing has shown yet[\s\S]*Ask the operator of this server for a link to sign in/,
    );
    assert.equal((await someone.submit(link)).status, 403);
    const ceo = new Browser(service.baseUrl);
    await ceo.submit(await operatorLink(email));
    assert.equal((await ceo.submit(link)).status, 303, 'the link stayed good');
  });

  it('an account that the operator makes an owner loses its unverified credentials first (§12.1/verified-address)', async () => {
    const email = newEmail();
    const someone = await prepare(email);
    const teamB = await service.newTeam();
    const link = await operatorLink(email, teamB);
    assert.equal((await someone.get('/app/account')).status, 401);
    assert.equal((await enter(email)).status, 401);
    const ceo = new Browser(service.baseUrl);
    assert.equal((await ceo.submit(link)).status, 303);
    assert.equal((await ceo.get(`/app/teams/${teamB.publicId}/team`)).status, 200);
  });

  it('two simultaneous verifications of an address both sign in, and end the earlier sessions and credentials', async () => {
    const email = newEmail();
    const someone = await prepare(email);
    const links = [await operatorLink(email), await operatorLink(email)];
    const browsers = links.map(() => new Browser(service.baseUrl));
    await Promise.all(browsers.map((browser, n) => browser.submit(links[n] ?? '')));
    for (const browser of browsers) assert.equal((await browser.get('/app/account')).status, 200);
    assert.equal((await someone.get('/app/account')).status, 401);
  });
});

describe('an invitation that was mailed (specification section 12.1)', () => {
  const service = givenService({
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'texts@example.com',
    ROLES: 'api',
  });

  it('a mailed invitation verifies the address, and revokes the credentials of the stranger who prepared the account', async () => {
    const person = await newPerson(service, { password, isEmailVerified: false });
    const other = await newCookie(service, person.account);
    await join(service, await service.newTeam(), person, 'member');
    const team = await service.newTeam();
    const invited = { email: person.email, role: 'member' };
    assert.equal((await team.api.post('/v1/team/members/invite', invited)).status, 201);
    await setInvitationToken(service, team.id, 'known');
    const invitee = new Browser(service.baseUrl, { cookie: person.cookie });
    assert.equal((await invitee.submit('/invite/known')).status, 303);
    assert.equal((await person.get('/app/account')).status, 200, 'the session that joined stays');
    const elsewhere = new Browser(service.baseUrl, { cookie: other });
    assert.equal((await elsewhere.get('/app/account')).status, 401);
    assert.equal((await elsewhere.signIn(person.email, password)).status, 401);
  });
});
