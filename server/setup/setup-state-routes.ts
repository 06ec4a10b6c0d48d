import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { strictObject, stringEnum } from '#contract/schema.ts';
import { deviceUrlOf } from '#server/devices/device-url.ts';
import { claimDevice, closeSetupLink } from '#server/devices/setup-link.ts';
import type { SendBatcher } from '#server/messages/send-batcher.ts';
import { disconnectSignal } from '#server/platform/http/client-disconnect.ts';
import { type HandlerContext, type Route, route } from '#server/platform/http/route.ts';
import { followProgress, type ProgressServices } from './follow-progress.ts';
import { prepareInstallWay } from './install-way.ts';
import { progressRetrySeconds } from './limits.ts';
import { connectionOf, getSetup, readSetup, type Setup, type SetupServices } from './read-setup.ts';
import { sendTestText } from './send-test-text.ts';
import { setupTicks } from './setup-progress.ts';
import { storeForm, storeTick } from './setup-store.ts';
import { startLockTest } from './start-lock-test.ts';

const Form = Type.Union([Type.Literal(26), Type.Literal(27)]);

/** The JSON of the setup page (contract/setup.ts): its state, and what a person does. */
export function setupStateRoutes(
  services: SetupServices & ProgressServices & { readonly sends: SendBatcher },
): Route[] {
  const { pool } = services.database;
  const shared = { audience: 'visitor', answers: { 200: Type.Unknown() } } as const;
  const read = async ({ params, request }: HandlerContext) => {
    const setup = await getSetup(services, params.token ?? '');
    const addresses = [deviceUrlOf(services.config, setup.link.route), services.config.appUrl];
    return readSetup(services, setup, openAddress(request, addresses));
  };
  /** Runs what a person does, and answers with the state after it. */
  const act =
    <Body>(work: (setup: Setup, body: Body) => Promise<unknown>) =>
    async (call: HandlerContext<Body>) => {
      await work(await getSetup(services, call.params.token ?? ''), call.body);
      return { body: (await read(call)).state };
    };

  return [
    route({
      ...shared,
      method: 'GET',
      path: '/setup/:token/state',
      held: true,
      query: Type.Object({ seen: Type.Optional(Type.String({ maxLength: 100 })) }),
      answers: { 200: Type.Unknown(), 204: Type.String() },
      handle: async (call) => {
        const { link } = await getSetup(services, call.params.token ?? '');
        const leaving = disconnectSignal(call.reply);
        const outcome = await followProgress(services, link, call.query.seen, leaving, () => read(call));
        if (outcome.kind === 'changed') return { body: outcome.state };
        const headers = outcome.kind === 'full' ? { 'retry-after': String(progressRetrySeconds) } : {};
        return { status: 204, body: '', headers };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/setup/:token/claim',
      // The signing command takes up to a minute, one file at a time, so it has its own bounded queue.
      ownQueue: true,
      body: strictObject({ form: Form }),
      handle: act(async (setup, { form }) => {
        await claimDevice(services, setup.token);
        await storeForm(pool, { ...setup.link, form });
        await prepareInstallWay(services, connectionOf(services, setup), form);
      }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/setup/:token/form',
      body: strictObject({ form: Form }),
      handle: act(({ link }, { form }) => storeForm(pool, { ...link, form })),
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/setup/:token/ticks',
      body: strictObject({ name: stringEnum(setupTicks), made: Type.Boolean() }),
      handle: act(({ link }, { name, made }) => storeTick(pool, { ...link, name, isMade: made })),
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/setup/:token/test-text',
      body: strictObject({ to: Type.String({ maxLength: 100 }), after: Type.Optional(Type.Integer()) }),
      handle: act((setup, { to, after }) => sendTestText(services, setup, to.trim(), after)),
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/setup/:token/lock-test',
      handle: act((setup) => startLockTest(services, setup)),
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/setup/:token/done',
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
