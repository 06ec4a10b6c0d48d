import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError, readAnswer, readError } from '../../web/api/api-answer.ts';

const unreadable = /could not be read/;

describe('API answers as the pages read them', () => {
  it('an error of the API keeps all its fields', () => {
    const error = { code: 'limit_reached', message: 'The month is full.', limit: 500 };
    assert.deepEqual(readError(JSON.stringify({ error })), error);
  });

  for (const text of [
    '',
    '<html>',
    'null',
    '{}',
    '{"error":null}',
    '{"error":"Bad gateway"}',
    '{"error":{"code":502}}',
  ]) {
    it(`the proxy's error body ${text || '(empty)'} becomes an error that says it can’t be read`, () => {
      assert.match(String(readError(text).message), unreadable);
    });
  }

  it('an HTML page with status 200 is read as an error, and an empty answer is not', () => {
    assert.throws(
      () => readAnswer(200, '<!doctype html>'),
      (error) => error instanceof ApiError && error.status === 200 && unreadable.test(error.message),
    );
    assert.equal(readAnswer(204, ''), undefined);
    assert.deepEqual(readAnswer(200, '{"a":1}'), { a: 1 });
  });
});
