import type { FastifyRequest } from 'fastify';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { strictObject, stringEnum } from '#contract/schema.ts';
import type { SetupState } from '#contract/setup.ts';
import type { ChangeListener, Changes } from '#server/dashboard/changes.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SetupLinkRow } from '#server/devices/device-store.ts';
import { claimDevice, closeSetupLink, deviceUrlOf } from '#server/devices/setup-link.ts';
import { type HandlerContext, type Route, route } from '#server/http/route.ts';
import { disconnectSignal } from '#server/http/stream-answer.ts';
import type { SendBatcher } from '#server/messages/send-message.ts';
import { LongPoll, type LongPolls } from '#server/platform/concurrency/long-poll.ts';
import type { MessageId, NumberId, SetupLinkId } from '#server/platform/ids.ts';
import { prepareInstallWay } from './install-way.ts';
import { lockTestIntervalMs, progressPollMs, progressRetrySeconds } from './limits.ts';
import { startLockTest } from './lock-texts.ts';
import {
  connectionOf,
  getSetup,
  type ReadSetup,
  readSetup,
  type Setup,
  type SetupServices,
} from './read-setup.ts';
import { sendTestText } from './send-test-text.ts';
import { setupTicks } from './setup-progress.ts';
import { storeForm, storeTick } from './setup-store.ts';

interface ProgressServices extends Runtime {
  readonly changes: Changes;
  readonly progressRequests: LongPolls<SetupLinkId>;
}

/**
 * Long poll of a setup page: answers once the page's state differs from the version that
 * the browser has.
 * @param read reads the state. It throws once the link has ended
 * @returns `same` at the end of its time, or `full` if no further long poll is possible: the browser repeats its request
 */
async function followProgress(
  { clock, changes, progressRequests }: ProgressServices,
  link: Pick<SetupLinkRow, 'team_id' | 'id' | 'number_id'>,
  seen: string | undefined,
  disconnect: AbortSignal,
  read: () => Promise<ReadSetup>,
): Promise<SetupState | 'same' | 'full'> {
  if (progressRequests.fullFor(link.id)) {
    const { state } = await read();
    return state.version === seen ? 'full' : state;
  }
  const request = new LongPoll(true);
  // Subscribes before reading, so that no change is missed in between.
  let messageId: MessageId | null = null;
  const unsubscribe = changes.subscribe(link.team_id, (change) => {
    if (isOfInterest(change, link.number_id, messageId)) request.wake();
  });
  let cancelInterval = () => {};
  const check = async () => {
    const { state, messageId: latest, isLocking } = await read();
    messageId = latest;
    if (state.version !== seen) return state;
    cancelInterval();
    if (isLocking) cancelInterval = clock.after(lockTestIntervalMs, () => request.wake());
    return undefined;
  };
  try {
    request.endAfter(clock, progressPollMs);
    return (
      (await progressRequests.hold(link.id, request, disconnect, () => request.firstOf(check))) ?? 'same'
    );
  } finally {
    cancelInterval();
    unsubscribe();
  }
}

/**
 * True if a change concerns the page's number or test text. Other changes are ignored, because a busy team makes many.
 */
function isOfInterest(
  change: Parameters<ChangeListener>[0],
  numberId: NumberId,
  messageId: MessageId | null,
): boolean {
  if (change === 'everything') return true;
  const { resource, ids } = change;
  if (resource === 'number') return ids === 'all' || ids.has(numberId);
  return resource === 'message' && messageId !== null && ids !== 'all' && ids.has(messageId);
}

const form = Type.Union([Type.Literal(26), Type.Literal(27)]);

/** The JSON of the setup page (contract/setup.ts): its state, and what a person does. */
export function setupStateRoutes(
  services: SetupServices & ProgressServices & { readonly sends: SendBatcher },
): Route[] {
  const { pool } = services.database;
  const shared = { audience: 'visitor', answers: { 200: Type.Unknown(), 204: Type.String() } } as const;
  const find = ({ params }: HandlerContext) => getSetup(services, params.token ?? '');
  const read = async (call: HandlerContext) => {
    const setup = await find(call);
    const addresses = [deviceUrlOf(services.config, setup.link.route), services.config.appUrl];
    return readSetup(services, setup, openAddress(call.request, addresses));
  };
  /** Creates the route of an action of the person. The answer is the state after the action. */
  const action = <Fields extends TProperties>(
    address: `POST ${string}`,
    fields: Fields,
    work: (setup: Setup, body: Static<TObject<Fields>>) => Promise<unknown>,
    options: Pick<Route, 'admission'> = {},
  ) =>
    route(address, {
      ...shared,
      ...options,
      body: strictObject(fields),
      handle: async (call) => {
        await work(await find(call), call.body);
        return { body: (await read(call)).state };
      },
    });

  return [
    route('GET /setup/:token/state', {
      ...shared,
      admission: { permit: 'held' },
      query: Type.Object({ seen: Type.Optional(Type.String({ maxLength: 100 })) }),
      handle: async (call) => {
        const { link } = await find(call);
        const leaving = disconnectSignal(call.reply);
        const followed = await followProgress(services, link, call.query.seen, leaving, () => read(call));
        if (typeof followed === 'object') return { body: followed };
        const headers = followed === 'full' ? { 'retry-after': String(progressRetrySeconds) } : {};
        return { status: 204, body: '', headers };
      },
    }),
    action(
      'POST /setup/:token/claim',
      { form },
      async (setup, chosen) => {
        await claimDevice(services, setup.token);
        await storeForm(pool, { ...setup.link, ...chosen });
        await prepareInstallWay(services, connectionOf(services, setup), chosen.form);
      },
      // The signing command takes up to a minute, one file at a time, so it has its own bounded queue.
      { admission: { permit: 'own queue' } },
    ),
    action('POST /setup/:token/form', { form }, ({ link }, chosen) =>
      storeForm(pool, { ...link, ...chosen }),
    ),
    action(
      'POST /setup/:token/ticks',
      { name: stringEnum(setupTicks), made: Type.Boolean() },
      ({ link }, tick) => storeTick(pool, { ...link, ...tick }),
    ),
    action(
      'POST /setup/:token/test-text',
      {
        to: Type.String({ maxLength: 100 }),
        after: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
      },
      (setup, { to, after = null }) => sendTestText(services, setup, to.trim(), after),
    ),
    action('POST /setup/:token/lock-test', {}, (setup) => startLockTest(services, setup)),
    route('POST /setup/:token/done', {
      ...shared,
      handle: async (call) => {
        const { state } = await read(call);
        await closeSetupLink(services, call.params.token ?? '');
        return { body: state };
      },
    }),
  ];
}

/** The address among these at which an iPhone sent the request; undefined for other requests. */
function openAddress({ headers }: FastifyRequest, urls: readonly string[]): string | undefined {
  const isPhone = /\biPhone\b/.test(headers['user-agent'] ?? '');
  return isPhone ? urls.find((url) => headers.host === new URL(url).host) : undefined;
}
