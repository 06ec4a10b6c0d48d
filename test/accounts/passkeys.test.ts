import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Browser, type BrowserAnswer, newAccount, signedIn } from '#test/support/browser/browser-client.ts';
import { dropPassword } from '#test/support/people/given-accounts.ts';
import {
  type CreationOptions,
  type RequestOptions,
  SoftwareAuthenticator,
} from '#test/support/people/software-authenticator.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { startTestService } from '#test/support/service/test-service.ts';

const password = 'a sentence that nobody guesses';
const appUrl = 'https://texts.example.com';

describe('passkeys (specification section 12.2)', () => {
  let ada: Browser;
  const service = givenService({ APP_URL: appUrl });
  let made = 0;

  before(async () => {
    await newAccount(service, { email: 'ada@example.com', password });
    ada = await signedIn(service, 'ada@example.com', password);
  });

  const creationOptions = async (browser: Browser) => {
    const answer = await browser.post('/app/account/passkeys/options');
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as CreationOptions;
  };
  const requestOptions = async () => {
    const answer = await new Browser(service.baseUrl).post('/app/sign-in/passkey/options');
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as RequestOptions;
  };
  const newPasskey = async (options?: { counts: boolean }) => {
    made += 1;
    const authenticator = new SoftwareAuthenticator(appUrl, options);
    const response = authenticator.create(await creationOptions(ada));
    const answer = await ada.post('/app/account/passkeys', {
      name: `Passkey ${made}`,
      response,
      current_password: password,
    });
    assert.equal(answer.status, 201, answer.text);
    return { authenticator, id: String(answer.json.id) };
  };
  const enter = (response: unknown, browser = new Browser(service.baseUrl)): Promise<BrowserAnswer> =>
    browser.post('/app/sign-in/passkey', { response });
  const assertRefused = (answer: BrowserAnswer, what: string) => {
    assert.equal(answer.status, 401, `${what}: ${answer.text}`);
    assert.match(answer.text, /The server does not know this passkey, or the browser took too long/, what);
    assert.equal(answer.headers.get('set-cookie'), null, what);
  };

  it('a registered passkey signs in without an address, and the list shows its last use (§12.2/passkeys)', async () => {
    const { authenticator, id } = await newPasskey();
    const browser = new Browser(service.baseUrl);
    const answer = await enter(authenticator.get(await requestOptions()), browser);
    assert.partialDeepStrictEqual(answer, { status: 200, json: { account: { email: 'ada@example.com' } } });
    assert.equal((await browser.get('/app/account')).status, 200);
    const { json } = await browser.get('/app/account/passkeys');
    const passkey = (json.passkeys as { id: string }[]).find((one) => one.id === id);
    assert.match(String(field(passkey, 'last_used_at')), /^2\d{3}-/);
    const sessions = (await browser.get('/app/account/sessions')).json.sessions as { current: boolean }[];
    assert.equal(
      field(
        sessions.find(({ current }) => current),
        'method',
      ),
      'passkey',
    );
  });

  it('the registration options ask for a discoverable credential of this host, and exclude registered ones', async () => {
    const { authenticator } = await newPasskey();
    const { json } = await ada.post('/app/account/passkeys/options');
    assert.equal(field(json, 'rp.id'), 'texts.example.com');
    assert.equal(field(json, 'authenticatorSelection.residentKey'), 'required');
    assert.equal(field(json, 'authenticatorSelection.userVerification'), 'required');
    assert.equal(field(json, 'attestation'), 'none');
    const excluded = json.excludeCredentials as { id: string }[];
    assert.ok(excluded.some(({ id }) => id === authenticator.credentialId.toString('base64url')));
    const options = await requestOptions();
    assert.equal(field(options, 'rpId'), 'texts.example.com');
    assert.equal(field(options, 'userVerification'), 'required');
    assert.equal(field(options, 'allowCredentials'), undefined, 'it names no passkeys');
  });

  it('the first answer to a challenge uses the challenge up, even if the answer is wrong', async () => {
    const { authenticator } = await newPasskey();
    const options = await requestOptions();
    const first = authenticator.get(options);
    assert.equal((await enter(first)).status, 200);
    assertRefused(await enter(first), 'the same answer again');
    assertRefused(await enter(authenticator.get(options)), 'a new answer to the same challenge');
    const spoilt = await requestOptions();
    assertRefused(await enter(authenticator.get(spoilt, { origin: 'https://texts.example.net' })), 'wrong');
    assertRefused(await enter(authenticator.get(spoilt)), 'right, to a challenge that was answered wrongly');
  });

  it('only one of several identical simultaneous answers to a challenge signs in', async () => {
    const { authenticator } = await newPasskey();
    const answer = authenticator.get(await requestOptions());
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => enter(answer)))).map(
      ({ status }) => status,
    );
    assert.deepEqual(statuses.sort(), [200, ...Array.from({ length: 7 }, () => 401)]);
  });

  it('a passkey without user verification neither signs in nor is added, and the answer says what to set up (§12.2/user-verification)', async () => {
    const userPresent = 0x01;
    const { authenticator } = await newPasskey();
    const answer = await enter(authenticator.get(await requestOptions(), { flags: userPresent }));
    assert.equal(answer.status, 401, answer.text);
    assert.match(answer.text, /did not verify you.*PIN, fingerprint or face/);
    assert.equal(answer.headers.get('set-cookie'), null);
    assert.equal((await enter(authenticator.get(await requestOptions()))).status, 200);
    const forged = { ...authenticator.get(await requestOptions(), { flags: userPresent }) };
    forged.response = { ...forged.response, signature: 'MEUCIQ' };
    assertRefused(await enter(forged), 'a signature of nobody');
    const response = new SoftwareAuthenticator(appUrl).create(await creationOptions(ada), {
      flags: userPresent,
    });
    const added = await ada.post('/app/account/passkeys', {
      name: 'Old security key',
      response,
      current_password: password,
    });
    assert.deepEqual([added.status, field(added.json, 'error.param')], [400, 'response']);
    assert.match(added.text, /did not verify you.*PIN, fingerprint or face/);
  });

  it('a challenge expires after 5 minutes', async () => {
    const { authenticator } = await newPasskey();
    const inTime = await requestOptions();
    service.clock.advance(299_000);
    assert.equal((await enter(authenticator.get(inTime))).status, 200);
    const late = await requestOptions();
    service.clock.advance(300_001);
    assertRefused(await enter(authenticator.get(late)), 'late');
  });

  it('a passkey’s answer with one wrong field (origin, host, ceremony, challenge, presence, signature) is refused', async () => {
    const { authenticator } = await newPasskey();
    const stranger = new SoftwareAuthenticator(appUrl);
    const id = authenticator.credentialId.toString('base64url');
    const answered = async (override: Parameters<SoftwareAuthenticator['get']>[1]) =>
      authenticator.get(await requestOptions(), override);
    const nothing = { clientDataJSON: '', authenticatorData: '', signature: '' };
    const wrong: [string, unknown][] = [
      ['another origin', await answered({ origin: 'https://texts.example.net' })],
      ['the same host on http', await answered({ origin: 'http://texts.example.com' })],
      ['another host', await answered({ rpId: 'example.net' })],
      ['another ceremony', await answered({ type: 'webauthn.create' })],
      ['an unknown challenge', await answered({ challenge: 'bm9ib2R5IG1hZGUgdGhpcw' })],
      ['no user present', await answered({ flags: 0 })],
      ['another account', await answered({ userHandle: 'AZkAAAAAcACAAAAAAAAAAQ' })],
      ['no account', await answered({ userHandle: '' })],
      ['an unknown passkey', stranger.get(await requestOptions())],
      ['a foreign signature', { ...stranger.get(await requestOptions()), id, rawId: id }],
      ['no client data', { ...(await answered({})), response: nothing }],
    ];
    for (const [what, response] of wrong) assertRefused(await enter(response), what);
    assert.equal((await enter(authenticator.get(await requestOptions()))).status, 200, 'it still works');
  });

  it('a passkey whose signature counter did not grow is refused as a copy, unless its counter is always 0 (§12.2/passkeys)', async () => {
    const { authenticator } = await newPasskey();
    assert.equal((await enter(authenticator.get(await requestOptions(), { counter: 10 }))).status, 200);
    for (const counter of [10, 9, 0]) {
      assertRefused(
        await enter(authenticator.get(await requestOptions(), { counter })),
        `counter ${counter}`,
      );
    }
    assert.equal((await enter(authenticator.get(await requestOptions(), { counter: 11 }))).status, 200);
    const { authenticator: still } = await newPasskey({ counts: false });
    for (const _ of [1, 2]) assert.equal((await enter(still.get(await requestOptions()))).status, 200);
  });

  it('a passkey and its copy that answer at the same time with one counter value sign in once', async () => {
    const { authenticator } = await newPasskey();
    const challenges = await Promise.all(Array.from({ length: 6 }, requestOptions));
    const answers = await Promise.all(
      challenges.map((options) => enter(authenticator.get(options, { counter: 50 }))),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  });

  it('registering a passkey requires a sign-in of the last 15 minutes or the current password', async () => {
    const [grown, nobody] = ['linus@example.com', 'margaret@example.com'];
    await newAccount(service, { email: grown, password });
    await newAccount(service, { email: nobody, password });
    const [linus, margaret] = [
      await signedIn(service, grown, password),
      await signedIn(service, nobody, password),
    ];
    await dropPassword(service, nobody);
    const add = async (browser: Browser, current?: string) => {
      const response = new SoftwareAuthenticator(appUrl).create(await creationOptions(browser));
      const body = { name: 'Phone', response };
      return browser.post(
        '/app/account/passkeys',
        current === undefined ? body : { ...body, current_password: current },
      );
    };
    assert.equal((await add(linus)).status, 201);
    service.clock.advance(900_000);
    for (const current of [undefined, 'not the present one']) {
      const refused = await add(linus, current);
      assert.deepEqual([refused.status, field(refused.json, 'error.param')], [400, 'current_password']);
    }
    assert.equal((await add(linus, password)).status, 201);
    assert.equal((await add(margaret)).status, 403, 'without a password a fresh sign-in is all there is');
  });

  it('registering a passkey requires a fresh challenge of the same account, our origin and no certificates', async () => {
    await newAccount(service, { email: 'grace@example.com', password });
    const grace = await signedIn(service, 'grace@example.com', password);
    const add = (response: unknown, browser = ada) =>
      browser.post('/app/account/passkeys', { name: 'Laptop', response, current_password: password });
    const authenticator = new SoftwareAuthenticator(appUrl);
    const used = authenticator.create(await creationOptions(ada));
    assert.equal((await add(used)).status, 201);
    const ownWord = new SoftwareAuthenticator(appUrl);
    const selfSigned = ownWord.create(await creationOptions(ada), { selfSigned: true });
    assert.equal((await add(selfSigned)).status, 201, 'a statement that the passkey signed itself');
    assert.equal((await enter(ownWord.get(await requestOptions()))).status, 200);
    const certificates = new Map<string, unknown>([
      ['alg', -7],
      ['sig', Buffer.alloc(70)],
      ['x5c', [Buffer.alloc(400)]],
    ]);
    const fresh = () => new SoftwareAuthenticator(appUrl);
    const made = async (override: Parameters<SoftwareAuthenticator['create']>[1]) =>
      fresh().create(await creationOptions(ada), override);
    const late = await creationOptions(ada);
    const wrong: [string, unknown][] = [
      ['the same answer again', used],
      ['a challenge of another person', fresh().create(await creationOptions(grace))],
      ['a challenge for signing in', fresh().create({ ...late, ...(await requestOptions()) })],
      ['another origin', await made({ origin: 'https://texts.example.net' })],
      ['another host', await made({ rpId: 'example.net' })],
      ['no user present', await made({ flags: 0 })],
      ['certificates', await made({ statement: { format: 'packed', fields: certificates } })],
      ['certificates of a phone', await made({ statement: { format: 'android-key', fields: certificates } })],
    ];
    for (const [what, response] of wrong) {
      const answer = await add(response);
      assert.equal(answer.status, 400, `${what}: ${answer.text}`);
      assert.equal(field(answer.json, 'error.param'), 'response');
    }
    const again = await add(authenticator.create(await creationOptions(grace)), grace);
    assert.equal(again.status, 409, again.text);
    service.clock.advance(300_001);
    assert.equal((await add(fresh().create(late))).status, 400, 'late');
    assert.equal(
      (await add(fresh().create(await creationOptions(ada)), new Browser(service.baseUrl))).status,
      401,
    );
  });

  it('only the owner renames or removes a passkey, and a removed passkey does not sign in', async () => {
    const { authenticator, id } = await newPasskey();
    const grace = await signedIn(service, 'grace@example.com', password);
    for (const answer of [
      await grace.put(`/app/account/passkeys/${id}`, { name: 'Mine' }),
      await grace.delete(`/app/account/passkeys/${id}`),
      await ada.delete('/app/account/passkeys/pky_00000000000000000000000000'),
      await ada.delete('/app/account/passkeys/x'),
    ]) {
      assert.equal(answer.status, 404, answer.text);
    }
    const renamed = await ada.put(`/app/account/passkeys/${id}`, { name: ' Key ring ' });
    assert.equal(renamed.json.name, 'Key ring', renamed.text);
    assert.equal((await ada.put(`/app/account/passkeys/${id}`, { name: ' ' })).status, 400);
    assert.equal((await enter(authenticator.get(await requestOptions()))).status, 200);
    assert.deepEqual((await ada.delete(`/app/account/passkeys/${id}`)).json, { deleted: true });
    assertRefused(await enter(authenticator.get(await requestOptions())), 'removed');
    const { json } = await ada.get('/app/account/audit');
    const actions = (json.entries as { action: string; target: string; outcome: string }[])
      .filter(({ target, outcome }) => target === id && outcome === 'done')
      .map(({ action }) => action);
    assert.deepEqual(actions, [
      'account.passkey_removed',
      'account.passkey_renamed',
      'account.passkey_added',
    ]);
  });
});

it('a passkey sign-in needs a host name in APP_URL (specification section 12.2)', async () => {
  for (const [url, status] of [
    ['http://127.0.0.1:3000', 400],
    ['https://[2001:db8::1]', 400],
    ['http://localhost:3000', 200],
  ] as const) {
    const service = await startTestService({ APP_URL: url });
    try {
      const answer = await new Browser(service.baseUrl).post('/app/sign-in/passkey/options');
      assert.equal(answer.status, status, `${url}: ${answer.text}`);
      if (status === 400) assert.match(answer.text, /Passkeys need a domain name in APP_URL/);
    } finally {
      await service.close();
    }
  }
});
