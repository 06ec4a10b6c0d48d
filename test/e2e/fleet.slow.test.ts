import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SimulatedPhone } from '#simulated-phone/simulated-phone.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database/test-database.ts';
import { claim } from '#test/support/phones/test-phone.ts';
import { firstKey, type SpawnedService, spawnService } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';

const phones = 20;
const messagesPerPhone = 200;

describe('a fleet of phones on two processes (specification section 11.4)', () => {
  let database: TestDatabase;
  let dataDir: string;
  let services: [SpawnedService, SpawnedService];
  let key: string;

  before(async () => {
    database = await createTestDatabase();
    dataDir = await mkdtemp(join(tmpdir(), 'ownline-fleet-'));
    const settings = { DATABASE_URL: database.url, DATA_DIR: dataDir };
    services = [await spawnService({ settings }), await spawnService({ settings })];
    key = await firstKey(dataDir);
  });
  after(async () => {
    await Promise.all(services.map((service) => service.kill('SIGTERM')));
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('each of 4,000 messages is handed out once, to the phone of its number, and each conversation keeps its order (§3.2/handed-out-once, §4.3/order)', async () => {
    const apis = services.map((service) => new ApiClient(service.baseUrl, key));
    const [first] = apis;
    assert.ok(first);
    const fleet = await Promise.all(
      Array.from({ length: phones }, async (_, index) => {
        const phoneNumber = `+141555501${String(index).padStart(2, '0')}`;
        const verify = await first.post('/v1/numbers/verify', { phone_number: phoneNumber });
        const wire = await claim(first, String(verify.json.setup_url));
        // Each process is polled by half of the phones.
        const server = services[index % 2]?.baseUrl ?? '';
        const phone = new SimulatedPhone({
          server,
          deviceToken: wire.token,
          count: messagesPerPhone,
          waitSeconds: 0,
        });
        return { phoneNumber, phone, running: phone.run() };
      }),
    );
    await until('all numbers are verified', async () => {
      const { json } = await first.get('/v1/numbers');
      return Array.isArray(json.numbers) && json.numbers.every((number) => number.verified === true);
    });

    const accepted = new Map<string, { from: string; to: string; n: number }>();
    const send = async (from: string, sender: number) => {
      // Each message of a conversation is sent after the previous one was accepted, alternately to both processes.
      for (let n = 0; n < messagesPerPhone / 2; n += 1) {
        for (const contact of [0, 1]) {
          const to = `+1212555${String(sender * 2 + contact).padStart(4, '0')}`;
          const api = apis[n % 2];
          assert.ok(api);
          accepted.set(await api.send({ from, to, content: `${n}` }), { from, to, n });
        }
      }
    };
    await Promise.all(fleet.map(({ phoneNumber }, index) => send(phoneNumber, index)));
    await Promise.all(fleet.map(({ running }) => running));

    const sent = fleet.flatMap(({ phone }) => phone.sent);
    assert.equal(accepted.size, phones * messagesPerPhone);
    assert.equal(sent.length, accepted.size, 'as many messages left the phones as were accepted');
    assert.deepEqual(new Set(sent.map((message) => message.id)), new Set(accepted.keys()));
    for (const { phone, phoneNumber } of fleet) {
      for (const [to, conversation] of Map.groupBy(phone.sent, (message) => message.to)) {
        assert.ok(conversation.every((message) => accepted.get(message.id)?.from === phoneNumber));
        const order = conversation.map((message) => Number(message.text));
        assert.deepEqual(
          order,
          [...order].sort((left, right) => left - right),
          `order of ${phoneNumber} to ${to}`,
        );
      }
    }
    const { json } = await first.get(`/v1/messages/${sent.at(-1)?.id}`);
    assert.equal(json.status, 'sent');
  });
});
