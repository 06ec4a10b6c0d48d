import assert from 'node:assert/strict';
import { type ErrorCode, errorStatus } from '#contract/errors.ts';
import { canaryMark, canaryPhone, field } from '#test/support/service/api-client.ts';
import type { RawAnswer } from './raw-http.ts';

/** Patterns of internal details that no answer may contain: a location in the code, SQL, an error of a library. */
const inside =
  /\n\s+at |node_modules|file:\/\/|\.ts:\d|\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|duplicate key|violates|syntax error|invalid (input|byte)|(relation|column) "|ECONN|(Type|Range|Reference|Syntax)Error|Cannot read|is not a function|FST_ERR|HPE_/;

/** Statuses whose answers have the error code of status 400 and a message of their own (specification section 7.1). */
const ownWords = [405, 408, 413, 415, 417, 431];

/**
 * Checks what every answer has to satisfy (specification sections 7.1 and 7.2), except answers to HEAD. The answer is
 * no server failure, and reveals nothing internal and nothing of another team. It has the headers request-id and
 * cache-control, and a refusal has the error envelope.
 */
export function assertSound(answer: RawAnswer, what: string): void {
  const shown = `${what}\n${answer.status} ${answer.body.slice(0, 2_000)}`;
  assert.ok(answer.status >= 200 && answer.status < 500, shown);
  assert.match(answer.headers.get('request-id') ?? '', /^req_[0-9a-hjkmnp-tv-z]{26}$/, shown);
  const cacheControl = answer.headers.has('etag') ? 'no-cache' : 'no-store';
  assert.equal(answer.headers.get('cache-control'), cacheControl, shown);
  assert.doesNotMatch(answer.body, inside, shown);
  assert.ok(!answer.body.includes(canaryMark) && !answer.body.includes(canaryPhone), shown);
  // Only errors are checked further; a page may redirect.
  if (answer.status < 400) return;
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', shown);
  const { error, ...rest } = JSON.parse(answer.body);
  assert.deepEqual(rest, {}, shown);
  assert.ok(Object.hasOwn(errorStatus, error.code), shown);
  const status = ownWords.includes(answer.status) ? 400 : answer.status;
  assert.equal(errorStatus[error.code as ErrorCode], status, shown);
  assert.equal(typeof error.message, 'string', shown);
  assert.match(error.message, /^(?!undefined (is not valid|must))[\s\S]{10,}/, shown);
  assert.ok(error.message.isWellFormed(), shown);
  if (!('param' in error)) return;
  assert.equal(typeof error.param, 'string', shown);
  assert.ok(error.param.isWellFormed(), shown);
}

/** Checks a refusal, even one of Node's HTTP parser (specification section 7.1). @returns the body */
export function assertEnvelope(answer: RawAnswer, status: number, code = 'invalid_request'): unknown {
  assertSound(answer, '');
  assert.equal(answer.status, status, answer.body);
  const body: unknown = JSON.parse(answer.body);
  assert.equal(field(body, 'error.code'), code);
  return body;
}
