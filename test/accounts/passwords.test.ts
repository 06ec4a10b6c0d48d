import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { describe, it } from 'node:test';
import { signedIn } from '#test/support/browser/browser-client.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { holdPasswordChange } from '#test/support/people/given-accounts.ts';
import { givenPasswords, password } from '#test/support/people/given-passwords.ts';
import { storedAccount } from '#test/support/people/stored-accounts.ts';
import { field } from '#test/support/service/api-client.ts';
import { watchArgon2 } from '#test/support/service/watch-argon2.ts';

describe('passwords (specification section 12.2)', () => {
  const { service, attempt } = givenPasswords();
  const hashOf = async (email: string) => (await storedAccount(service, email)).passwordHash ?? '';

  it('a password is stored as argon2id with 19 MiB, two passes, one lane and its own salt (§12.2/passwords)', async () => {
    const [ada, grace] = [await hashOf('ada@example.com'), await hashOf('grace@example.com')];
    assert.notEqual(ada, grace, 'the same password, two salts');
    for (const hash of [ada, grace]) {
      const [, kind, version, costs, salt = '', tag = ''] = hash.split('$');
      assert.deepEqual([kind, version, costs], ['argon2id', 'v=19', 'm=19456,t=2,p=1']);
      const nonce = Buffer.from(salt, 'base64');
      assert.deepEqual([nonce.length, Buffer.from(tag, 'base64').length], [16, 32]);
      const computed = argon2Sync('argon2id', {
        message: password,
        nonce,
        memory: 19_456,
        passes: 2,
        parallelism: 1,
        tagLength: 32,
      });
      assert.equal(computed.toString('base64').replace(/=+$/, ''), tag);
    }
  });

  it('a password has 12 to 200 code points and matches in any Unicode normalization form', async () => {
    const browser = await signedIn(service, 'grace@example.com', password);
    const set = (written: string, present: string) =>
      browser.put('/app/account/password', { password: written, current_password: present });
    for (const wrong of ['', 'eleven char', '😀'.repeat(11), 'x'.repeat(201)]) {
      const answer = await set(wrong, password);
      assert.equal(answer.status, 400, wrong);
      assert.equal(field(answer.json, 'error.param'), 'password');
    }
    let present = password;
    for (const right of ['twelve chars', '😀'.repeat(200), 'Ångström, typed in one form']) {
      assert.equal((await set(right.normalize('NFC'), present)).status, 200);
      present = right;
    }
    assert.equal((await attempt('grace@example.com', present.normalize('NFD'))).status, 303);
    assert.equal((await set(password, present.normalize('NFD'))).status, 200);
  });

  it('a process computes at most two password hashes at a time, each once, however many people sign in (§12.2/passwords)', async () => {
    const watch = watchArgon2();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) => attempt('ada@example.com', n % 2 === 0 ? password : 'wrong')),
    );
    watch.stop();
    assert.deepEqual(answers.map(({ status }) => status).filter((status) => status === 303).length, 8);
    assert.deepEqual([watch.runs(), watch.mostAtATime()], [16, 2]);
  });

  it('an unknown address, a wrong password and an account without a password get the same answer after the same work (§12.2/passwords)', async () => {
    const seen: unknown[] = [];
    // The audit entry is written at the same time as the answer, so its statements are left out.
    const statements = watchStatements(['accounts.', 'account-sessions.', 'throttle.', 'magic-links.']);
    for (const email of ['ada@example.com', 'none@example.com', 'nobody@example.com']) {
      const argon2 = watchArgon2();
      const answer = await attempt(email, 'a wrong password');
      argon2.stop();
      assert.equal(answer.status, 401, answer.text);
      const { 'request-id': _id, date: _date, ...headers } = Object.fromEntries(answer.headers);
      // The form repeats the submitted address.
      const text = answer.text.replaceAll(email, 'somebody');
      delete headers['content-length'];
      const work = { statements: statements.take(), argon2: argon2.runs(), text, headers };
      assert.equal(work.argon2, 1);
      assert.ok(work.statements.length >= 2, work.statements.join());
      seen.push(work);
    }
    statements.stop();
    const [known, ...others] = seen;
    for (const other of others) assert.deepEqual(other, known);
  });

  it('a password that was replaced during its check does not sign in', async () => {
    const change = await holdPasswordChange(service, 'grace@example.com');
    const late = attempt('grace@example.com', password);
    await change.waiting(1);
    await change.release();
    assert.equal((await late).status, 401);
  });
});
