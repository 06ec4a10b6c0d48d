import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contactsMax } from '#contract/contact.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { putContacts } from '#test/support/contacts/given-contacts.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

const [phone, mail] = ['+14155550101', 'ada@example.com'];

describe('/v1/contacts (specification section 4.8)', () => {
  const service = givenService();
  const team = givenEach(() => service.newTeam());

  const post = (body: object) => team.api.post('/v1/contacts', body);
  const create = async (name: string, ...handles: readonly string[]) => {
    const { status, json, text } = await post({ name, handles });
    assert.equal(status, 201, text);
    return String(json.id);
  };
  const list = async (query = '') => {
    const { status, json, text } = await team.api.get(`/v1/contacts${query}`);
    assert.equal(status, 200, text);
    return json as { contacts: { id: string; name: string }[]; cursor: string; has_more: boolean };
  };
  const named = async (query: string) => (await list(query)).contacts.map(({ name }) => name);
  const errorOf = ({ status, json }: ApiAnswer) => [
    status,
    field(json, 'error.code'),
    field(json, 'error.param'),
  ];

  it('a contact is created, read, replaced and deleted (§4.8/replaced)', async () => {
    const made = await post({
      name: ' Ada Example ',
      handles: [phone, 'Ada@Example.COM'],
      note: 'Two\r\nlines',
    });
    assert.equal(made.status, 201, made.text);
    const { id, created_at: createdAt, updated_at: updatedAt, ...rest } = made.json;
    assert.deepEqual(rest, { name: 'Ada Example', handles: [phone, mail], note: 'Two\r\nlines' });
    assert.equal(createdAt, updatedAt);
    assert.deepEqual((await team.api.get(`/v1/contacts/${id}`)).json, made.json);
    service.clock.advance(1_000);
    const replaced = await team.api.put(`/v1/contacts/${id}`, {
      name: 'Ada',
      handles: [mail, '+14155550102'],
    });
    const { updated_at: later, ...replacedRest } = replaced.json;
    assert.deepEqual(replacedRest, {
      ...{ id, name: 'Ada', handles: [mail, '+14155550102'], note: '', created_at: createdAt },
    });
    assert.ok(String(later) > String(createdAt));
    assert.deepEqual((await list()).contacts, [replaced.json]);
    assert.deepEqual([await named('?query=example'), await named('?query=0102')], [[], ['Ada']]);
    assert.equal(await create('Grace', phone).then(() => 'free'), 'free');
    const deleted = await team.api.delete(`/v1/contacts/${id}`);
    assert.deepEqual([deleted.status, deleted.json], [200, { deleted: true }]);
    for (const method of ['GET', 'DELETE']) {
      const gone = await team.api.request(method, `/v1/contacts/${id}`);
      assert.deepEqual(errorOf(gone), [404, 'not_found', undefined]);
    }
    assert.deepEqual([await named(''), await named('?query=ada')], [['Grace'], []]);
  });

  it('all spellings of a handle are one, which belongs to one contact of a team (§4.8/one-owner)', async () => {
    const id = await create(
      'Ada',
      '+447911123456',
      '+44 (0)7911 123456',
      'ada@example.com',
      'ADA@example.com',
    );
    assert.deepEqual((await team.api.get(`/v1/contacts/${id}`)).json.handles, ['+447911123456', mail]);
    for (const handle of ['+4407911123456', '0044 7911 123456', 'Ada@Example.com']) {
      const refused = await post({ name: 'Grace', handles: [phone, handle] });
      assert.deepEqual(errorOf(refused), [409, 'conflict', 'handles'], handle);
      assert.ok(refused.text.includes(id), refused.text);
      assert.deepEqual(await named(`?handle=${encodeURIComponent(handle)}`), ['Ada']);
    }
    assert.deepEqual(
      await named(`?handle=${encodeURIComponent(phone)}`),
      [],
      'a refused contact is not there',
    );
    const other = await create('Grace', phone);
    const taken = await team.api.put(`/v1/contacts/${other}`, { name: 'Grace', handles: [mail] });
    assert.deepEqual(errorOf(taken), [409, 'conflict', 'handles']);
    const stranger = await service.newTeam();
    const same = await stranger.api.post('/v1/contacts', { name: 'Ada', handles: [mail] });
    assert.equal(same.status, 201);
    assert.equal((await stranger.api.get(`/v1/contacts/${id}`)).status, 404);
  });

  it('one of ten simultaneous requests with one handle makes a contact (§4.8/one-owner)', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => post({ name: `Person ${n}`, handles: [phone] })),
    );
    const made = answers.filter(({ status }) => status === 201);
    assert.equal(made.length, 1);
    assertEach(
      answers.filter((answer) => answer !== made[0]),
      errorOf,
      Array.from({ length: 9 }, () => [409, 'conflict', 'handles']),
    );
    assert.deepEqual((await list()).contacts, [made[0]?.json]);
  });

  it('names, handles and notes are refused or kept as they are written (§4.8/texts, §2.1/characters)', async () => {
    for (const name of ['👩‍⚕️ Dr. Example', 'דנה כהן', 'محمد', '李小龍', 'x'.repeat(100), '👋'.repeat(100)]) {
      const { status, json, text } = await post({ name, handles: [`${Math.random()}@example.com`] });
      assert.deepEqual([status, json.name], [201, name], text);
    }
    const ok = { name: 'Ada', handles: [phone] };
    const ten = Array.from({ length: 10 }, (_, n) => `ada${n}@example.com`);
    for (const [param, wrong] of [
      ['name', { ...ok, name: '' }],
      ['name', { ...ok, name: ' \n ' }],
      ['name', { ...ok, name: 'x'.repeat(101) }],
      ['name', { ...ok, name: 'Ada\nExample' }],
      ['name', { ...ok, name: 'Ada\u202eelpmaxE' }],
      ['name', { handles: [phone] }],
      ['note', { ...ok, note: 'x'.repeat(2_001) }],
      ['note', { ...ok, note: 'a\u2067b' }],
      ['note', { ...ok, note: 'a\tb' }],
      ['handles', { ...ok, handles: [] }],
      ['handles', { ...ok, handles: [...ten, phone] }],
      ['handles', { ...ok, handles: [phone, '4155550102'] }],
      ['handles', { ...ok, handles: ['Ada'] }],
      ['handles', { ...ok, handles: ['262626'] }],
      ['handles', { ...ok, handles: ['ada@'] }],
      ['company', { ...ok, company: 'Example Ltd' }],
    ] as const)
      assert.deepEqual(errorOf(await post(wrong)), [400, 'invalid_request', param], JSON.stringify(wrong));
    assert.equal((await post({ ...ok, handles: ten, note: '👋'.repeat(2_000) })).status, 201);
  });

  it('contacts are listed newest first, in pages of any size, also those that fit a query (§4.8/query)', async () => {
    const names = Array.from({ length: 23 }, (_, n) => `${n % 3 === 0 ? 'Ada' : 'Grace'} Person ${n}`);
    for (const [n, name] of names.entries()) await create(name, `+1415555${4000 + n}`, `n${n}@example.com`);
    const newest = names.toReversed();
    for (const [query, expected] of [
      ['', newest],
      ['query=person', newest],
      ['query=p', newest],
      ['query=per%20ad', newest.filter((name) => name.startsWith('Ada'))],
      ['query=5554001', ['Grace Person 1']],
      ['query=nobody', []],
      ['query=-', []],
    ] as const) {
      for (const limit of [1, 7, 100]) {
        const shown: string[] = [];
        for (let cursor = ''; ; ) {
          const page = await list(`?limit=${limit}&cursor=${cursor}&${query}`);
          shown.push(...page.contacts.map(({ name }) => name));
          assert.equal(page.has_more, shown.length < expected.length, query);
          if (!page.has_more) break;
          cursor = page.cursor;
        }
        assert.deepEqual(shown, expected, `${query} ${limit}`);
      }
    }
    for (const [query, param] of [
      ['?cursor=msg_01h2xcejqtf2nbrexx3vqjhp41', 'cursor'],
      ['?query=', 'query'],
      [`?query=${'x'.repeat(101)}`, 'query'],
      ['?query=ada&handle=ada', 'query'],
      ['?name=ada', 'name'],
    ])
      assert.deepEqual(errorOf(await team.api.get(`/v1/contacts${query}`)), [400, 'invalid_request', param]);
  });

  it('a team has at most 100,000 contacts (§4.8/most)', async () => {
    const id = await create('Ada', phone);
    await putContacts(service, team.id, contactsMax - 2);
    await create('Grace', '+14155550102');
    const refused = await post({ name: 'Lin', handles: ['+14155550103'] });
    assert.deepEqual(errorOf(refused), [402, 'plan_limit_exceeded', undefined]);
    assert.deepEqual(
      [field(refused.json, 'error.limit'), field(refused.json, 'error.current')],
      [contactsMax, contactsMax],
    );
    assert.equal((await team.api.put(`/v1/contacts/${id}`, { name: 'Ada', handles: [phone] })).status, 200);
    await team.api.delete(`/v1/contacts/${id}`);
    await create('Lin', '+14155550103');
  });

  it('the audit entry of a change has its actor and the id, no name and no handle (§12.6/audit-log)', async () => {
    const id = await create('Ada Example', mail);
    await team.api.put(`/v1/contacts/${id}`, { name: 'Ada Example', handles: [phone], note: 'Example' });
    await team.api.delete(`/v1/contacts/${id}`);
    const entries = (await storedAuditEntries(service, { teamId: team.id })).slice(-3);
    assertEach(entries, ({ action, actorKind, target }) => [action, actorKind, target], [
      ['contact.created', 'key', id],
      ['contact.changed', 'key', id],
      ['contact.deleted', 'key', id],
    ]);
    for (const text of ['Example', 'ada', phone]) assert.ok(!JSON.stringify(entries).includes(text), text);
  });
});
