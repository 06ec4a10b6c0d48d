import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openRuntime } from '#server/app/open-runtime.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { acceptSends } from '#server/messages/accept-sends.ts';
import { sendRow } from '#test/support/messages/send-row.ts';
import { handOutsOf, messagesInFlight, storedMessages } from '#test/support/messages/stored-messages.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

const to = '+14155550101';
const holdMs = 3_000;

describe('a pause under load (specification section 3.3)', () => {
  const service = givenService({ DEVICE_HOLD_SECONDS: String(holdMs / 1_000) });
  const second = given(() => service.startAnother());
  given(() => plantCanary(service));
  const team = given(() => service.newTeam());

  const setStatus = async (number: ConnectedNumber, status: string) => {
    const answer = await team.api.put(`/v1/numbers/${number.numberId}`, { status });
    assert.equal(answer.status, 200, answer.text);
  };

  async function handOuts(number: ConnectedNumber): Promise<{ count: number; latestMs: number }> {
    const all = await handOutsOf(service, number.phoneNumber);
    return { count: all.length, latestMs: all.at(-1)?.handedOutAt.getTime() ?? 0 };
  }

  it('no message is handed out after the request to pause was answered (§3.3/pause-and-resume)', async () => {
    const number = await connectNumber(service, team, '+14155550113');
    let over = false;
    let accepted = 0;
    const sender = async (api: ApiClient) => {
      while (!over) {
        const body = { from: number.phoneNumber, to, content: 'load' };
        const answer = await api.post('/v1/messages/send', body);
        if (answer.status === 202) accepted += 1;
        else assert.match(answer.text, /is paused/);
      }
    };
    const elsewhere = new ApiClient(second.baseUrl, team.api.key);
    const leaving = new AbortController();
    const received: string[] = [];
    const phone = async () => {
      let last = 'none';
      while (!over) {
        const answer = await number.wire.poll({ last }, leaving.signal);
        last = answer.id ?? 'none';
        if (answer.id !== undefined) received.push(answer.id);
      }
    };
    const senders = Array.from({ length: 16 }, (_, index) => sender(index % 2 === 0 ? team.api : elsewhere));
    const polling = phone().catch((error) => assert.ok(leaving.signal.aborted, String(error)));
    try {
      for (let round = 0; round < 12; round += 1) {
        const before = (await handOuts(number)).count;
        await until('the phone is busy', async () => (await handOuts(number)).count >= before + 5);
        await setStatus(number, 'paused');
        const answeredMs = service.clock.nowMs();
        const atAnswer = await handOuts(number);
        assert.ok(atAnswer.latestMs <= answeredMs);
        // The next poll is held during the pause, so a late hand-out would answer it.
        await until('the phone asks again', async () => {
          const inFlight = await messagesInFlight(service, number.phoneNumber);
          return inFlight.length === 0;
        });
        assert.deepEqual(await handOuts(number), atAnswer);
        await setStatus(number, 'active');
      }
    } finally {
      over = true;
      await Promise.all(senders);
      leaving.abort();
      await polling;
    }
    assert.equal(new Set(received).size, received.length, 'a message was handed out twice');
    const stored = await storedMessages(service, { teamId: team.id, from: number.phoneNumber });
    assert.equal(stored.length, accepted);
  });

  it('a pause succeeds under constant sends', async () => {
    const number = await connectNumber(service, team, '+14155550114');
    const { config, logger, clock } = service.runtime;
    const others = await Promise.all(
      [1, 2].map(() => openRuntime(config, service.databaseUrl, logger, clock)),
    );
    let over = false;
    const saturate = async (runtime: Runtime) => {
      while (!over) {
        await acceptSends(
          runtime,
          Array.from({ length: 20 }, () =>
            sendRow({ teamId: team.id, from: number.phoneNumber, to, content: 'load' }),
          ),
        );
      }
    };
    const load = others.flatMap((runtime) => [saturate(runtime), saturate(runtime), saturate(runtime)]);
    try {
      for (let change = 0; change < 30; change += 1) {
        // `setStatus` fails if sends keep the number's lock too long, because the answer is not 200.
        await setStatus(number, change % 2 === 0 ? 'paused' : 'active');
      }
    } finally {
      over = true;
      await Promise.all(load);
      for (const other of others) await other.database.close();
    }
  });
});
