import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type ErrorCode, errorStatus } from '#contract/errors.ts';
import { denyConnections } from '#test/support/database/lost-connections.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { PageBlocks, printedShape } from '#test/support/processes/page-blocks.ts';
import { runScript } from '#test/support/processes/run-script.ts';
import type { ApiClient } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { putAccepted, putSpentMinute } from '#test/support/usage/given-usage.ts';

describe('the examples of docs/errors.md (§7.1/envelope)', () => {
  const service = givenService({ RATE_LIMITS: 'on' });
  const team = given(() => service.newTeam({ monthlyLimit: 100 }));
  const page = given(() => PageBlocks.read('docs/errors.md'));

  before(() => connectNumber(service, team, '+14155550100'));

  /** Brings about the state of each example, in this order. The last one makes the database unreachable. */
  const prepare: Readonly<Record<ErrorCode, () => Promise<ApiClient>>> = {
    invalid_request: async () => team.api,
    unauthorized: async () => team.api,
    not_found: async () => team.api,
    forbidden: () => service.newKey(team.id, ['messages:send']),
    conflict: async () => team.api,
    plan_limit_exceeded: async () => {
      await putAccepted(service, team.id, 100);
      return team.api;
    },
    rate_limited: async () => {
      const busy = await service.newTeam();
      nextMinute(service.clock);
      await putSpentMinute(service, busy.id, 0);
      return busy.api;
    },
    internal_error: async () => team.api,
  };

  const answerOf = (status: number, { key }: ApiClient) =>
    runScript(`set -eu\nOWNLINE=${service.baseUrl}\nKEY=${key}\n${page.one(`sh ${status}`)}`);

  for (const code of Object.keys(prepare) as ErrorCode[]) {
    // Without its database the server answers 503 instead of 500.
    const status = code === 'internal_error' ? 503 : errorStatus[code];
    it(`the request of the example for ${status} in docs/errors.md gets the printed answer`, async (t) => {
      const api = await prepare[code]();
      const denial = code === 'internal_error' ? await denyConnections(service) : undefined;
      t.after(() => denial?.allow());
      assert.equal(printedShape(await answerOf(status, api)), printedShape(page.one(`json ${status}`)));
    });
  }
});
