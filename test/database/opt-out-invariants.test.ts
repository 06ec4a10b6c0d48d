import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EventType, eventTypes, messageEventTypes } from '#contract/event.ts';
import { failureCodes } from '#contract/message.ts';
import { Ids } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { openBareDatabase } from '#test/support/database/bare-database.ts';
import { given } from '#test/support/service/given.ts';

const clock = new Clock();
const ids = new Ids(clock);
const at = clock.now();
const violation = { code: '23514' };

describe('the invariants of opt-outs and of their events (docs/architecture.md)', () => {
  const database = given(openBareDatabase);

  const optOut = (contact: string, messageId: string | null, phone: string | null, request: string | null) =>
    database.pool.query(
      `INSERT INTO opt_outs (team_id, contact_hash, contact, id, sequence, opted_out_at, message_id, phone_number, request_id)
       VALUES ($1, md5($2)::uuid, $2, $3, 1, $4, $5, $6, $7)`,
      [database.team, contact, ids.next('opt'), at, messageId, phone, request],
    );
  const event = (
    type: EventType,
    messageId: string | null,
    numberId: string | null,
    contact: string | null,
  ) =>
    database.pool.query(
      `INSERT INTO events (team_id, id, type, message_id, number_id, contact, sequence, data, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, 40000, '{}', $7)`,
      [database.team, ids.next('evt'), type, messageId, numberId, contact, at],
    );

  it('the schema refuses a second opt-out of a contact, one without exactly one cause, and the row of an erased contact that opted in', async () => {
    const message = ids.next('msg');
    const phone = '+14155550100';
    await optOut('+14155550101', message, phone, null);
    await optOut('+14155550102', null, null, 'req_1');
    await assert.rejects(optOut('+14155550101', null, null, 'req_1'), { code: '23505' });
    const wrong: readonly [string | null, string | null, string | null][] = [
      [null, null, null],
      [message, phone, 'req_1'],
      [message, null, null],
      [null, phone, 'req_1'],
    ];
    for (const cause of wrong) await assert.rejects(optOut('+14155550103', ...cause), violation);
    for (const contact of ['', 'a'.repeat(321)])
      await assert.rejects(optOut(contact, null, null, 'req_1'), violation);
    const erase = (optedInAt: Date | null) =>
      database.pool.query('UPDATE opt_outs SET contact = NULL, opted_in_at = $1', [optedInAt]);
    await assert.rejects(erase(at), violation);
    await erase(null);
    await assert.rejects(optOut('+14155550101', null, null, 'req_1'), { code: '23505' });
  });

  it('the schema requires that an event is of a message and its number, a contact, or a number', async () => {
    const [message, number, contact] = [ids.next('msg'), ids.next('num'), '+14155550101'];
    const phone = '+14155550100';
    await database.insert('numbers', {
      ...{ team_id: database.team, id: number, phone_number: phone, verified_at: at, created_at: at },
    });
    await database.insert('messages', {
      ...{ team_id: database.team, id: message, number_id: number, direction: 'outbound', status: 'queued' },
      ...{ from_handle: phone, to_handle: contact, content: 'Hello', created_at: at },
    });
    for (const type of eventTypes) {
      const isOfMessage = messageEventTypes.some((known) => known === type);
      const isOfNumber = type.startsWith('number.');
      const right = isOfMessage
        ? [[message, number, null]]
        : isOfNumber
          ? [[null, number, null]]
          : [
              [null, number, contact],
              [null, null, contact],
            ];
      const wrong = isOfNumber
        ? [
            [message, number, null],
            [null, number, contact],
            [null, null, null],
          ]
        : isOfMessage
          ? [
              [null, number, null],
              [message, null, null],
              [message, number, contact],
              [null, null, contact],
            ]
          : [
              [message, number, contact],
              [message, number, null],
              [null, number, null],
            ];
      for (const [a = null, b = null, c = null] of right) await event(type, a, b, c);
      for (const [a = null, b = null, c = null] of wrong)
        await assert.rejects(event(type, a, b, c), violation, type);
    }
    await assert.rejects(event('message.read' as EventType, message, number, null), violation);
  });

  it('the schema accepts exactly the reasons of failure and types of events that the code knows', async () => {
    const { rows } = await database.pool.query<{ name: string; words: string[] }>(
      `SELECT conname AS name, array(SELECT m[1] FROM regexp_matches(pg_get_constraintdef(oid), '''([a-z_.]+)''', 'g') m) AS words
       FROM pg_constraint WHERE conname IN ('messages_error_code_check', 'events_type_check', 'webhooks_events_check')
         AND conrelid IN ('messages'::regclass, 'events'::regclass, 'webhooks'::regclass)`,
    );
    const known = Object.fromEntries(rows.map(({ name, words }) => [name, words.toSorted()]));
    assert.deepEqual(known, {
      messages_error_code_check: failureCodes.toSorted(),
      events_type_check: eventTypes.toSorted(),
      webhooks_events_check: eventTypes.toSorted(),
    });
  });
});
