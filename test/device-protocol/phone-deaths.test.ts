import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type DeathStep, SimulatedPhone } from '#simulated-phone/simulated-phone.ts';
import { findDeviceSession } from '#test/support/devices/stored-device-sessions.ts';
import { claim, findNumber } from '#test/support/phones/test-phone.ts';
import { type FlakyProxy, startFlakyProxy } from '#test/support/proxies/flaky-proxy.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

describe('phones and proxies that fail at each step (specification sections 3.2 and 11.4)', () => {
  let service: TestService;
  let proxy: FlakyProxy;
  let team: TestTeam;
  const phones: SimulatedPhone[] = [];
  let next = 0;

  before(async () => {
    service = await startTestService({ DEVICE_HOLD_SECONDS: '1' });
    proxy = await startFlakyProxy(service.baseUrl);
    team = await service.newTeam();
  });
  afterEach(() => proxy.clear());
  after(async () => {
    for (const phone of phones) phone.switchOff();
    await proxy.close();
    await service.close();
  });

  interface Line {
    readonly from: string;
    readonly numberId: string;
    readonly token: string;
  }

  const newNumber = async (): Promise<Line> => {
    next += 1;
    const from = `+14155550${String(next).padStart(3, '0')}`;
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: from });
    const { token } = await claim(team.api, String(verify.json.setup_url));
    const { json } = await team.api.get('/v1/numbers');
    const numbers = Array.isArray(json.numbers) ? json.numbers : [];
    return { from, numberId: String(numbers.at(-1)?.id), token };
  };
  const isVerified = (line: Line) => async () => (await findNumber(team.api, line.from))?.verified === true;
  const isPolling = (line: Line) => async () => {
    const session = await findDeviceSession(service, line.from);
    return session !== undefined && session.poll > 1;
  };
  const phoneOf = (line: Line, options: Partial<ConstructorParameters<typeof SimulatedPhone>[0]> = {}) => {
    const phone = new SimulatedPhone({
      server: proxy.url,
      deviceToken: line.token,
      waitSeconds: 0.05,
      ...options,
    });
    phones.push(phone);
    return { phone, running: phone.run() };
  };
  const send = (line: Line, content: string) =>
    team.api.send({ from: line.from, to: '+12125550100', content });
  const messageOf = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json;
  const copies = (id: string, ...phones: SimulatedPhone[]) =>
    phones.flatMap((phone) => phone.sent).filter((message) => message.id === id).length;
  /** Starts the phone again once its old session has ended and the grace for that session's reports is over. */
  const restarted = (line: Line) => {
    service.clock.advance(181_000);
    return phoneOf(line);
  };

  const deaths: readonly { step: DeathStep; retryOnce: boolean; copies: number; status: string }[] = [
    { step: 'before_send', retryOnce: false, copies: 0, status: 'failed' },
    { step: 'after_send', retryOnce: false, copies: 1, status: 'failed' },
    { step: 'before_send', retryOnce: true, copies: 1, status: 'sent' },
    { step: 'after_send', retryOnce: true, copies: 2, status: 'sent' },
  ];
  for (const death of deaths) {
    const policy = death.retryOnce ? 'retry_once' : 'fail';
    it(`a message whose phone died ${death.step} with ${policy} is ${death.status} and was sent ${death.copies} times (§3.2/device-timeout)`, async () => {
      const line = await newNumber();
      const first = phoneOf(line, { dieAt: { step: death.step, message: 1 } });
      await until('it is verified', isVerified(line));
      await team.api.put(`/v1/numbers/${line.numberId}`, { on_unconfirmed: policy });
      const id = await send(line, 'in doubt');
      await first.running;
      const second = restarted(line);
      const later = await send(line, 'the next one');
      await until('the next one is sent', async () => (await messageOf(later)).status === 'sent');
      second.phone.switchOff();
      await second.running;
      const message = await messageOf(id);
      assert.equal(message.status, death.status);
      assert.equal(copies(id, first.phone, second.phone), death.copies);
      assert.equal(copies(later, first.phone, second.phone), 1);
      if (death.status === 'failed')
        assert.deepEqual([message.error_code, message.may_have_been_sent], ['device_timeout', true]);
    });
  }

  it('a phone that died while_polling sends the queued message once after its restart', async () => {
    const line = await newNumber();
    const first = phoneOf(line, { dieAt: { step: 'while_polling', message: 1 } });
    await first.running;
    await until('it is verified', isVerified(line));
    const id = await send(line, 'for the next phone');
    const second = restarted(line);
    await until('it is sent', async () => (await messageOf(id)).status === 'sent');
    second.phone.switchOff();
    await second.running;
    assert.equal(copies(id, first.phone, second.phone), 1);
  });

  it('a message whose hand-out a proxy lost is unconfirmed, and is never sent twice', async () => {
    const line = await newNumber();
    const { phone, running } = phoneOf(line);
    await until('it is verified', isVerified(line));
    // The proxy may lose only a later poll: the repeat of a lost first poll would be a takeover
    // (unused-session.test.ts).
    await until('it polls in its session', isPolling(line));
    proxy.next('lose_hand_out');
    const lostId = await send(line, 'whose answer is lost');
    await until('the answer is lost', () => proxy.lost.length > 0);
    assert.equal((await messageOf(lostId)).status, 'polling');
    service.clock.advance(11_000);
    await until('it is settled', async () => (await messageOf(lostId)).error_code === 'device_timeout');
    phone.switchOff();
    await running;
    assert.equal(copies(lostId, phone), 0);
  });

  it('a proxy that repeats polls makes the phone send each message exactly once', async () => {
    const line = await newNumber();
    const { phone, running } = phoneOf(line);
    await until('it is verified', isVerified(line));
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      proxy.next('repeat_poll');
      ids.push(await send(line, `number ${n}`));
    }
    const last = await send(line, 'the last one');
    await until('all are settled', async () => {
      // If the answer with the message was lost, the message becomes unconfirmed 10 s after its hand-out.
      service.clock.advance(5_000);
      const messages = await Promise.all([...ids, last].map(messageOf));
      return messages.every((message) => message.status === 'sent' || message.status === 'failed');
    });
    phone.switchOff();
    await running;
    for (const id of [...ids, last]) {
      const { status } = await messageOf(id);
      assert.equal(copies(id, phone), status === 'sent' ? 1 : 0, `${id} is ${status}`);
    }
  });

  it("a phone repeats the same poll after a proxy's error page, so that its report is not lost", async () => {
    const line = await newNumber();
    const { phone, running } = phoneOf(line);
    await until('it is verified', isVerified(line));
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      proxy.next('error_page');
      ids.push(await send(line, `number ${n}`));
    }
    await until('all are sent', async () => {
      const messages = await Promise.all(ids.map(messageOf));
      return messages.every((message) => message.status === 'sent');
    });
    phone.switchOff();
    await running;
    for (const id of ids) assert.equal(copies(id, phone), 1);
  });
});
