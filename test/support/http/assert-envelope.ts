import assert from 'node:assert/strict';
import { field } from '#test/support/service/api-client.ts';
import type { RawAnswer } from './raw-http.ts';

/** Checks the shape of a refusal, even one of Node's HTTP parser (specification section 7.1). @returns the body */
export function assertEnvelope(answer: RawAnswer, status: number, code = 'invalid_request'): unknown {
  assert.equal(answer.status, status, answer.body);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.match(answer.headers.get('request-id') ?? '', /^req_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const body: unknown = JSON.parse(answer.body);
  assert.deepEqual(Object.keys(body as object), ['error']);
  assert.equal(field(body, 'error.code'), code);
  assert.ok(String(field(body, 'error.message')).length > 10);
  return body;
}
