import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Filters, fits, getPage, type Item, ids, walk } from '#test/support/http/walk-message-pages.ts';
import { putSentMessages } from '#test/support/messages/given-messages.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';

describe('pages of messages while messages arrive (§4.3/pages)', () => {
  let service: TestService;
  let team: TestTeam;
  let number: ConnectedNumber;
  let clients: ApiClient[];
  let closeSecond: () => Promise<void>;

  const to = '+14155550101';

  before(async () => {
    service = await startTestService({ QUEUE_EXPIRY_HOURS: '8760' });
    await plantCanary(service);
    team = await service.newTeam();
    number = await connectNumber(service, team, '+14155550100');
    const second = await service.startAnother();
    closeSecond = second.close;
    clients = [team.api, new ApiClient(second.baseUrl, team.api.key)];
  });
  after(async () => {
    await closeSecond();
    await service.close();
  });

  /** Sends, cancels and receives messages through both processes until `work` is done. @returns how many arrived */
  async function whileMessagesArrive(work: () => Promise<void>): Promise<number> {
    let over = false;
    let arrived = 0;
    const sending = clients.map(async (api) => {
      while (!over) {
        const sent = ['one', 'two', 'three'].map((content) =>
          api.send({ from: number.phoneNumber, to, content }),
        );
        const [first] = await Promise.all(sent);
        await api.post(`/v1/messages/${first}/cancel`);
        arrived += 3;
      }
    });
    const receiving = (async () => {
      while (!over) {
        await number.wire.call('inbound', { from: to, text: `inbound ${arrived} ${Math.random()}` });
        arrived += 1;
      }
    })();
    await work().finally(() => {
      over = true;
    });
    await Promise.all([...sending, receiving]);
    return arrived;
  }

  /**
   * Inserts 11,000 messages, one a second. The 86 delivered ones are around the 10,000th, where a page stops reading.
   */
  const fillHistory = async () => {
    const newer = (await storedMessages(service)).length;
    const endMs = service.clock.nowMs() - 3_600_000;
    const history = Array.from({ length: 11_000 }, (_, index) => {
      const back = index + 1 + newer;
      const isDelivered = back >= 9_500 && back <= 9_670 && back % 2 === 0;
      return { sentAtMs: endMs - (index + 1) * 1_000, isDelivered };
    });
    await putSentMessages(service, number.phoneNumber, to, history);
  };

  function assertOnceNewestFirst(items: readonly Item[], present: readonly string[]): void {
    const seen = ids(items);
    assert.deepEqual(seen, [...new Set(seen)].sort().reverse());
    const shown = new Set(seen);
    assert.deepEqual(
      present.filter((id) => !shown.has(id)),
      [],
    );
  }

  it('pages over two processes show every message that existed at the start once, newest first', async () => {
    for (let sent = 0; sent < 60; sent += 1) {
      await clients[sent % 2]?.send({ from: number.phoneNumber, to, content: `${sent}` });
      if (sent % 3 === 0) await number.wire.call('inbound', { from: to, text: `${sent}` });
    }
    const present = await walk(clients, {}, () => 100);
    assert.equal(present.length, 80);
    const filters: Filters[] = [
      {},
      { from: number.phoneNumber },
      { to },
      { from: to },
      { from: number.phoneNumber, to },
      { direction: 'inbound' },
      { status: 'queued' },
      { status: 'queued', to },
    ];
    let size = 0;
    const nextSize = () => {
      size = (size + 2) % 13;
      return size + 1;
    };
    const arrived = await whileMessagesArrive(async () => {
      for (const filter of filters) {
        const items = await walk(clients, filter, nextSize);
        assertOnceNewestFirst(items, ids(present.filter((item) => fits(item, filter))));
        for (const item of items) assert.ok(fits(item, { ...filter, status: undefined }));
      }
    });
    assert.ok(arrived > 50, `${arrived} arrived`);
  });

  it('if a page stopped at its limit of examined rows, the pages after it neither repeat nor omit messages', async () => {
    await fillHistory();
    const present = await walk(clients, { status: 'delivered' }, () => 100);
    assert.equal(present.length, 86);
    let met = 0;
    await whileMessagesArrive(async () => {
      // Each new message moves the row at which a page stops. Rounds go on until a page stops between delivered
      // messages.
      for (let round = 0; round < 40 || (met === 0 && round < 1_000); round += 1) {
        const first = await getPage(team.api, { status: 'delivered', limit: 100 });
        if (first.has_more && first.messages.length > 0 && first.messages.length < 86) met += 1;
        const rest = first.has_more
          ? await walk(clients, { status: 'delivered' }, () => 100, first.cursor)
          : [];
        assert.deepEqual(ids([...first.messages, ...rest]), ids(present), `round ${round}`);
      }
    });
    assert.ok(met > 0, 'no page met its bound: the test tests nothing');
  });
});
