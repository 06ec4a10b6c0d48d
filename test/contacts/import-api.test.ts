import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contactsMax } from '#contract/contact.ts';
import { importBatchMax, importedPeopleMax, importMaxBytes } from '#server/contacts/limits.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { putContacts } from '#test/support/contacts/given-contacts.ts';
import { untilBlocked } from '#test/support/database/blocked-statements.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('POST /v1/contacts/import (specification section 4.8)', () => {
  const service = givenService();
  const team = givenEach(() => service.newTeam());

  const send = (rawBody: string | Uint8Array<ArrayBuffer>, query = '') =>
    team.api.request('POST', `/v1/contacts/import${query}`, {
      ...{ rawBody, headers: { 'content-type': 'application/vnd.ms-excel' } },
    });
  const imported = async (file: string | Uint8Array<ArrayBuffer>, query = '') => {
    const { status, json, text } = await send(file, query);
    assert.equal(status, 200, text);
    return json;
  };
  const create = async (name: string, ...handles: readonly string[]) =>
    String((await team.api.post('/v1/contacts', { name, handles })).json.id);
  const all = async () =>
    (
      (await team.api.get('/v1/contacts?limit=100')).json.contacts as {
        name: string;
        handles: string[];
        note: string;
      }[]
    )
      .map(({ name, handles, note }) => [name, handles.join(' '), note])
      .sort();
  const errorOf = ({ status, json }: ApiAnswer) => [status, field(json, 'error.code')];
  const many = (count: number) =>
    `name,email\n${Array.from({ length: count }, (_, n) => `Person ${n},person${n}@example.com\n`).join('')}`;

  it('new people are created and known ones changed; a repeat changes nothing (§4.8/import)', async () => {
    await create('Ada', '+14155550101');
    const file =
      'name,phone,email,note\nAda Example,+1 415 555 0101,ada@example.com,Mornings\nGrace,+14155550102,,\n,+14155550102,grace@example.com,';
    const preview = await imported(file, '?preview=true');
    const expected = { created: 1, updated: 1, skipped: [] };
    assert.deepEqual(preview, {
      ...expected,
      changes: [
        { line: 2, action: 'update', name: 'Ada Example', handles: ['+14155550101', 'ada@example.com'] },
        { line: 3, action: 'create', name: 'Grace', handles: ['+14155550102'] },
        { line: 4, action: 'update', name: 'Grace', handles: ['+14155550102', 'grace@example.com'] },
      ],
    });
    assert.deepEqual(await all(), [['Ada', '+14155550101', '']], 'a preview changes nothing');
    assert.deepEqual(await imported(file), expected);
    const after = [
      ['Ada Example', '+14155550101 ada@example.com', 'Mornings'],
      ['Grace', '+14155550102 grace@example.com', ''],
    ];
    assert.deepEqual(await all(), after);
    assert.deepEqual(await imported(file), { created: 0, updated: 0, skipped: [] });
    const cards = 'BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nEMAIL:ADA@example.com\nEND:VCARD\n';
    assert.deepEqual(await imported(cards), { created: 0, updated: 1, skipped: [] });
    assert.deepEqual((await all())[0], ['Ada', '+14155550101 ada@example.com', 'Mornings']);
    assert.equal(field((await team.api.get('/v1/contacts?query=grace')).json, 'contacts.0.name'), 'Grace');
  });

  it('a person that can’t be imported is left out with the line and the reason, and no two people are merged (§4.8/import)', async () => {
    const [one, other] = [await create('One', 'one@example.com'), await create('Other', 'other@example.com')];
    const mails = (count: number) =>
      Array.from({ length: count }, (_, n) => `ada${n}@example.com`).join(' ::: ');
    const { skipped, created } = await imported(
      [
        'name,phone,email',
        'Both,,one@example.com ::: other@example.com',
        ',+14155550101,',
        'Nobody,415 555 0101,',
        `Many,,${mails(11)}`,
        'Ada,+14155550102,ada@example.com',
        'Grace,+14155550102,grace@example.com',
        'ADA,+14155550102,',
        '"Open',
        `Many,,${mails(21)}`,
      ].join('\n'),
    );
    const reasons = (skipped as { line: number; reason: string }[]).map(({ line, reason }) => [line, reason]);
    assert.deepEqual(
      [created, reasons],
      [
        1,
        [
          [2, `Its handles belong to two contacts: ${one} and ${other}.`],
          [3, 'It has no name.'],
          [
            4,
            'It has no mail address, and no phone number that can be read. Write numbers with their country code, such as +1.',
          ],
          [5, 'It would have more than 10 handles.'],
          [7, 'It has a handle of the person on line 6, who has another name.'],
          [9, 'The line has more than 8 KB, or a quote in it does not end.'],
          [10, 'It has more than 20 phone numbers and mail addresses.'],
        ],
      ],
    );
    assert.deepEqual(await all(), [
      ['ADA', '+14155550102 ada@example.com', ''],
      ['One', 'one@example.com', ''],
      ['Other', 'other@example.com', ''],
    ]);
  });

  it('names keep their letters in UTF-8, with a byte order mark, and in the encoding of Windows (§4.8/files)', async () => {
    const file = 'name,email,note\nJürgen Groß,j@example.com,Grüße\n';
    const names = ['👩‍⚕️ דנה', 'محمد', '李小龍'].map((name, n) => `${name},n${n}@example.com,\n`).join('');
    await imported(new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from(file + names)]));
    await imported(Uint8Array.from(Buffer.from(file.replace('j@', 'k@'), 'latin1')));
    assert.deepEqual(
      (await all()).map(([name]) => name),
      [...['Jürgen Groß', 'Jürgen Groß', 'محمد', '李小龍', '👩‍⚕️ דנה']],
    );
    await imported('name,email,note\n"Ada\u202e\tX",a@example.com,"one\ntwo\u0007"\n');
    assert.deepEqual(
      (await all())[0],
      ['AdaX', 'a@example.com', 'one\ntwo'],
      'hidden characters are left out',
    );
  });

  it('a number without a country code is one of the country of the team’s number (§4.8/import)', async () => {
    await connectNumber(service, team, '+4917155500001');
    await imported('name,phone\nAda,0171 555 01234\nGrace,+1 (415) 555-0101\nLin,0044 7911 123456\n');
    assert.deepEqual(await all(), [
      ['Ada', '+4917155501234', ''],
      ['Grace', '+14155550101', ''],
      ['Lin', '+447911123456', ''],
    ]);
  });

  it('a large file is written in batches, each with an audit entry without names (§4.8/import, §12.6/audit-log)', async () => {
    const { created } = await imported(many(2 * importBatchMax + 1));
    assert.equal(created, 2 * importBatchMax + 1);
    const entries = (await storedAuditEntries(service, { teamId: team.id })).slice(-3);
    assertEach(entries, ({ action, target, details }) => [action, target, details], [
      ...[importBatchMax, importBatchMax, 1].map((contacts) => ['contact.imported', '', { contacts }]),
    ]);
    const again = await imported(many(2 * importBatchMax + 1), '?preview=true');
    assert.deepEqual(again, { created: 0, updated: 0, skipped: [], changes: [] });
  });

  it('a team imports one file at a time (§4.8/import)', async () => {
    const lock = await holdRowLock(service, { teamId: team.id });
    const first = send(many(1));
    await untilBlocked(service, 'teams.lock');
    assert.deepEqual(errorOf(await send(many(1))), [409, 'conflict']);
    await lock.release();
    assert.equal((await first).json.created, 1);
    assert.equal((await imported(many(2))).created, 1);
  });

  it('files that are too large, of another kind or of too many people are refused, and change nothing (§4.8/import)', async () => {
    const large = `name,email,note\n${`Ada,ada@example.com,${'x'.repeat(7_000)}\n`.repeat(750)}`;
    assert.ok(large.length > importMaxBytes);
    for (const [file, status] of [
      [large, 413],
      [many(importedPeopleMax + 1), 400],
      ['{"name":"Ada","handles":["ada@example.com"]}', 400],
      ['name,company\nAda,Example Ltd\n', 400],
      ['', 400],
      [`name,email\n${'\n'.repeat(500_000)}`, 400],
    ] as const)
      assert.deepEqual(errorOf(await send(file)), [status, 'invalid_request'], file.slice(0, 50));
    assert.deepEqual(await all(), []);
  });

  it('an import stops at 100,000 contacts, and says so for each person that is left (§4.8/most)', async () => {
    await putContacts(service, team.id, contactsMax - 1);
    const expected = { created: 1, updated: 0 };
    const preview = await imported(many(3), '?preview=true');
    const { skipped, ...counts } = await imported(many(3));
    assert.deepEqual([counts, skipped], [expected, preview.skipped]);
    assertEach(skipped as { line: number; reason: string }[], ({ line }) => line, [3, 4]);
  });
});
