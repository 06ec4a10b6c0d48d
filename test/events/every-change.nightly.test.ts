import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type EventType, eventTypes } from '#contract/event.ts';
import { findDeviceByToken } from '#server/devices/device-store.ts';
import { type Report, reportMessage } from '#server/messages/report-message.ts';
import { resolveOverdue } from '#server/messages/sweep-messages.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { parseId, type WebhookId } from '#server/platform/ids.ts';
import { setTeamPlan } from '#server/teams/team/team.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { endLease } from '#test/support/messages/given-messages.ts';
import { connectNumber, type DeviceWire } from '#test/support/phones/test-phone.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import {
  putWebhook,
  removeSubscription,
  setSubscription,
  switchSubscription,
  uuidOf,
} from '#test/support/webhooks/make-webhooks.ts';
import { countDue, writtenDeliveries } from '#test/support/webhooks/stored-deliveries.ts';

/** The recipient of every message, and the sender of every text. */
const contact = '+12125550100';

const walks = 40;
const stepsMax = 60;

/** FUZZ_SEED and the path that fast-check prints repeat a failure. */
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

type Step =
  | { readonly do: 'send' | 'hand out' | 'lapse' | 'delete'; readonly number: number }
  | { readonly do: 'receive'; readonly number: number; readonly text: number }
  | { readonly do: 'report'; readonly message: number; readonly status: Report['status'] }
  | { readonly do: 'cancel'; readonly message: number }
  /** `number` is the index of a number; the index 2 means an opt-out by a request, not by a text. */
  | { readonly do: 'opt out' | 'opt in'; readonly number: number }
  | { readonly do: 'plan'; readonly plan: 'free' | 'pro' }
  | WebhookStep;

type WebhookStep =
  | {
      readonly do: 'add webhook';
      readonly types: EventType[];
      readonly number: number;
      readonly isActive: boolean;
    }
  | {
      readonly do: 'change webhook';
      readonly webhook: number;
      readonly types: EventType[];
      readonly number: number;
    }
  | { readonly do: 'switch webhook'; readonly webhook: number }
  | { readonly do: 'remove webhook'; readonly webhook: number };

const number = fc.nat(1);
const some = fc.nat(11);
const types = fc.subarray([...eventTypes], { minLength: 1 });
/** Index of a number; the index 2 means all numbers. */
const filter = fc.nat(2);
const optStep = fc.record({ do: fc.constantFrom('opt out', 'opt in'), number: filter });
const status = fc.constantFrom<Report['status'][]>('sent', 'failed', 'delivered', 'not_delivered');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('send'), number }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('hand out'), number }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('report'), message: some, status }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lapse'), number }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel'), message: some }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('receive'), number, text: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete'), number }) },
  { weight: 2, arbitrary: optStep },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('plan'), plan: fc.constantFrom('free', 'pro') }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('add webhook'), types, number: filter, isActive: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('change webhook'), webhook: some, types, number: filter }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('switch webhook'), webhook: some }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove webhook'), webhook: some }) },
) as fc.Arbitrary<Step>;

/** The test's model of a message. Its transitions are written from the specification, not taken from the server. */
interface ModelMessage {
  readonly id: string;
  readonly phoneNumber: string;
  readonly wire: DeviceWire;
  state: 'queued' | 'polling' | 'sent' | 'delivered' | 'timed out' | 'failed';
  events: number;
}

interface ModelWebhook {
  readonly id: WebhookId;
  types: readonly EventType[];
  phoneNumber: string | undefined;
  isActive: boolean;
}

/**
 * Events of a number's health need time to pass. No walk moves the clock; test/numbers/number-health.test.ts covers
 * them.
 */
const changedByWalks = eventTypes.filter((type) => !type.startsWith('number.'));

/** One line describes an event or a delivery. */
const eventLine = (message: string | null, type: EventType, sequence: number) =>
  `${message ?? contact} ${type} ${sequence}`;
const deliveryLine = (event: string, webhook: string, isSkipped: boolean) =>
  `${event} to ${webhook} ${isSkipped ? 'skipped' : 'pending'}`;

let walked = 0;

class Walk {
  readonly #service: TestService;
  readonly #team: TestTeam;
  readonly #phones: { readonly phoneNumber: string; numberId: string; wire: DeviceWire }[] = [];
  readonly #messages: ModelMessage[] = [];
  readonly #webhooks: ModelWebhook[] = [];
  #plan: 'free' | 'pro' = 'pro';
  #received = new Map<string, string>();
  readonly #contact = { id: contact, phoneNumber: '', events: 0, isOptedOut: false };
  #expected: string[] = [];

  static async begin(service: TestService): Promise<Walk> {
    const walk = new Walk(service, await service.newTeam({ plan: 'pro', monthlyLimit: 1_000_000 }));
    for (let n = 0; n < 2; n += 1) {
      walked += 1;
      // Each walk has its own phone number, which also differs from the canary's.
      const phoneNumber = `+1628555${String(walked).padStart(4, '0')}`;
      walk.#phones.push(await connectNumber(service, walk.#team, phoneNumber));
    }
    return walk;
  }

  private constructor(service: TestService, team: TestTeam) {
    this.#service = service;
    this.#team = team;
  }

  /** Makes one step of the walk. @returns the lines of the events and deliveries that this step must write, sorted */
  async take(step: Step): Promise<string[]> {
    this.#expected = [];
    await this.#take(step);
    return this.#expected.sort();
  }

  /** Lists all events and deliveries of the team as lines, sorted. */
  async written(): Promise<string[]> {
    const events = await storedEvents(this.#service, { teamId: this.#team.id });
    const deliveries = await writtenDeliveries(this.#service, this.#team.id);
    for (const { status, isDue } of deliveries) assert.equal(status === 'pending', isDue);
    assert.equal(
      await countDue(this.#service, this.#team.id),
      deliveries.filter(({ isDue }) => isDue).length,
    );
    return [
      ...events.map((event) => eventLine(event.messageId, event.type, event.sequence)),
      ...deliveries.map(({ messageId, eventType, sequence, webhookId, status }) =>
        deliveryLine(eventLine(messageId, eventType, sequence), webhookId, status === 'skipped'),
      ),
    ].sort();
  }

  #tell(message: Pick<ModelMessage, 'id' | 'phoneNumber' | 'events'>, type: EventType): void {
    message.events += 1;
    const event = eventLine(parseId('msg', message.id) ?? contact, type, message.events);
    this.#expected.push(event);
    for (const webhook of this.#webhooks) {
      const matches =
        webhook.types.includes(type) &&
        (webhook.phoneNumber === undefined || webhook.phoneNumber === message.phoneNumber);
      if (matches) this.#expected.push(deliveryLine(event, webhook.id, !webhook.isActive));
    }
  }

  #fail(message: ModelMessage, state: 'failed' | 'timed out' = 'failed'): void {
    message.state = state;
    this.#tell(message, 'message.failed');
  }

  #phone(index: number) {
    const phone = this.#phones[index];
    assert.ok(phone);
    return phone;
  }

  #of(wire: DeviceWire, state: ModelMessage['state']): ModelMessage[] {
    return this.#messages.filter((message) => message.wire === wire && message.state === state);
  }

  async #take(step: Step): Promise<void> {
    switch (step.do) {
      case 'send': {
        const { phoneNumber, wire } = this.#phone(step.number);
        const body = { from: phoneNumber, to: contact, content: 'Hello' };
        const answer = await this.#team.api.post('/v1/messages/send', body);
        assert.equal(answer.status, this.#contact.isOptedOut ? 400 : 202, answer.text);
        if (this.#contact.isOptedOut) return;
        const id = String(answer.json.id);
        this.#messages.push({ id, phoneNumber, wire, state: 'queued', events: 0 });
        return;
      }
      case 'hand out': {
        const { wire } = this.#phone(step.number);
        const [next] = this.#of(wire, 'queued');
        // Without a next message the poll would be held, so the step is skipped.
        if (!next || this.#of(wire, 'polling').length > 0) return;
        assert.equal((await wire.poll()).id, next.id);
        next.state = 'polling';
        return;
      }
      case 'report':
        return this.#report(step.message, step.status);
      case 'lapse': {
        const [lapsed] = this.#of(this.#phone(step.number).wire, 'polling');
        if (!lapsed) return;
        await endLease(this.#service, uuidOf('msg', lapsed.id));
        await resolveOverdue(this.#service.runtime);
        return this.#fail(lapsed, 'timed out');
      }
      case 'cancel': {
        const message = this.#messages[step.message % Math.max(1, this.#messages.length)];
        if (!message) return;
        const answer = await this.#team.api.post(`/v1/messages/${message.id}/cancel`);
        assert.equal(answer.status, message.state === 'queued' ? 200 : 409, answer.text);
        if (message.state === 'queued') this.#fail(message);
        return;
      }
      case 'receive':
        return this.#receive(step.number, `Text ${step.text}`);
      case 'opt out':
      case 'opt in':
        return this.#opt(step.do, step.number);
      case 'delete':
        return this.#delete(step.number);
      case 'plan':
        this.#plan = step.plan;
        await setTeamPlan(this.#service.runtime.database.pool, {
          teamId: this.#team.id,
          plan: step.plan,
          monthlyMessageLimit: 1_000_000,
        });
        return;
      default:
        return this.#webhook(step);
    }
  }

  async #report(index: number, status: Report['status']): Promise<void> {
    const message = this.#messages[index % Math.max(1, this.#messages.length)];
    if (!message) return;
    const { runtime } = this.#service;
    const device = await findDeviceByToken(runtime.database.pool, { tokenHash: sha256(message.wire.token) });
    const messageId = parseId('msg', message.id);
    assert.ok(messageId);
    if (!device) return;
    const report = { messageId, sessionId: parseId('ses', message.wire.session), status, error: null };
    await reportMessage(runtime, { teamId: device.team_id, numberId: device.number_id }, report);
    const isGood = status === 'sent' || status === 'delivered';
    if (isGood && (message.state === 'polling' || message.state === 'timed out')) {
      message.state = 'sent';
      this.#tell(message, 'message.sent');
    }
    if (status === 'delivered' && message.state === 'sent') {
      message.state = 'delivered';
      if (this.#plan !== 'free') this.#tell(message, 'message.delivered');
    }
    const fails = message.state === 'polling' || (message.state === 'sent' && status === 'not_delivered');
    if (!isGood && fails) this.#fail(message);
  }

  async #receive(index: number, text: string): Promise<void> {
    const { phoneNumber, numberId, wire } = this.#phone(index);
    const answer = await wire.call('inbound', { from: contact, text });
    const known = this.#received.get(`${numberId} ${text}`);
    // A known text that is repeated within 20 s is not a new message, and changes nothing.
    if (known !== undefined) return;
    const { id } = answer;
    assert.ok(id, JSON.stringify(answer));
    this.#received.set(`${numberId} ${text}`, id);
    this.#tell({ id, phoneNumber, events: 0 }, 'message.received');
  }

  async #opt(change: 'opt out' | 'opt in', index: number): Promise<void> {
    const isOut = change === 'opt out';
    const isChange = isOut !== this.#contact.isOptedOut;
    const phone = this.#phones[index];
    if (phone) await this.#receive(index, `${isOut ? 'STOP' : 'START'}${'!'.repeat(this.#received.size)}`);
    else {
      const method = isOut ? 'PUT' : 'DELETE';
      const { status } = await this.#team.api.request(method, `/v1/opt-outs/${encodeURIComponent(contact)}`);
      assert.equal(status, isOut || isChange ? 200 : 404);
    }
    if (!isChange) return;
    this.#contact.isOptedOut = isOut;
    this.#contact.phoneNumber = phone?.phoneNumber ?? '';
    this.#tell(this.#contact, isOut ? 'contact.opted_out' : 'contact.opted_in');
    if (isOut)
      for (const { wire } of this.#phones)
        for (const message of this.#of(wire, 'queued')) this.#fail(message);
  }

  async #delete(index: number): Promise<void> {
    const phone = this.#phone(index);
    // The walk keeps a number with a message in flight: test/numbers/pause-and-delete-number.test.ts tests its deletion.
    if (this.#of(phone.wire, 'polling').length > 0) return;
    const answer = await this.#team.api.delete(`/v1/numbers/${phone.numberId}`);
    assert.equal(answer.status, 200, answer.text);
    for (const message of this.#of(phone.wire, 'queued')) this.#fail(message);
    const plan = this.#plan;
    if (plan === 'free')
      await setTeamPlan(this.#service.runtime.database.pool, {
        teamId: this.#team.id,
        plan: 'pro',
        monthlyMessageLimit: 1_000_000,
      });
    this.#phones[index] = await connectNumber(this.#service, this.#team, phone.phoneNumber);
    if (plan === 'free')
      await setTeamPlan(this.#service.runtime.database.pool, {
        teamId: this.#team.id,
        plan: 'free',
        monthlyMessageLimit: 1_000_000,
      });
  }

  async #webhook(step: WebhookStep): Promise<void> {
    const numberOf = (index: number) => this.#phones[index]?.phoneNumber;
    if (step.do === 'add webhook') {
      const phoneNumber = numberOf(step.number);
      const { types, isActive } = step;
      const filter = phoneNumber === undefined ? {} : { phoneNumber };
      const { id } = await putWebhook(this.#service, this.#team.id, types, { isActive, ...filter });
      this.#webhooks.push({ id, types, phoneNumber, isActive });
      return;
    }
    const index = step.webhook % Math.max(1, this.#webhooks.length);
    const webhook = this.#webhooks[index];
    if (!webhook) return;
    if (step.do === 'remove webhook') {
      await removeSubscription(this.#service, webhook.id);
      this.#webhooks.splice(index, 1);
    } else if (step.do === 'switch webhook') {
      webhook.isActive = !webhook.isActive;
      await switchSubscription(this.#service, webhook.id, webhook.isActive);
    } else if (step.do === 'change webhook') {
      webhook.types = step.types;
      webhook.phoneNumber = numberOf(step.number);
      await setSubscription(this.#service, webhook.id, webhook.types, webhook.phoneNumber);
    }
  }
}

describe(`random walks over the states of messages, from seed ${seed} (specification sections 6.1 and 6.3)`, () => {
  // No process delivers, so that the written rows stay unchanged.
  const service = givenService({ ROLES: 'api' });

  it('each change makes exactly one event, and each event one delivery for each matching webhook (§6.1/one-per-change, §6.2/envelope, §6.3/request-format)', async () => {
    const reached = new Map<string, number>();
    const walk = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: stepsMax, size: 'max' }),
      async (steps) => {
        const walk = await Walk.begin(service);
        let all: string[] = [];
        for (const taken of steps) {
          const expected = await walk.take(taken);
          all = [...all, ...expected].sort();
          assert.deepEqual(await walk.written(), all, JSON.stringify(taken));
          for (const line of expected) {
            const [kind] = /(?:message|contact)\.\w+( \d+( to.*)?)?/.exec(line) ?? [''];
            const shape = kind.replace(/ \d.*(pending|skipped)/, ' $1').replace(/ \d+$/, '');
            reached.set(shape, (reached.get(shape) ?? 0) + 1);
          }
        }
      },
    );
    const missing = () =>
      changedByWalks.flatMap((type) =>
        ['', ' pending', ' skipped'].map((kind) => `${type}${kind}`).filter((shape) => !reached.has(shape)),
      );
    await fc.assert(walk, { seed, numRuns: walks });
    // Some event types are rare, so further walks run until all types occurred.
    for (let more = 1; missing().length > 0 && more <= 10; more += 1)
      await fc.assert(walk, { seed: seed + more, numRuns: walks });
    assert.deepEqual(missing(), []);
  });
});
