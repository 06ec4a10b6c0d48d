import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Runtime } from '#server/database/runtime.ts';
import { deviceUrlOf } from '#server/devices/device-url.ts';
import { claimDevice, closeSetupLink } from '#server/devices/setup-link.ts';
import type { SendBatcher } from '#server/messages/send-batcher.ts';
import { AppError } from '#server/platform/app-error.ts';
import { withAppBasePath } from '#server/platform/http/app-base-path.ts';
import { disconnectSignal } from '#server/platform/http/client-disconnect.ts';
import { parseForm } from '#server/platform/http/form-route.ts';
import { type Answer, type HandlerContext, type Route, route } from '#server/platform/http/route.ts';
import { textFieldsSchema } from '#server/platform/http/text-fields-schema.ts';
import { shortcuts } from '#shortcut/shortcuts.ts';
import { followProgress, type ProgressServices } from './follow-progress.ts';
import { changedTicks, handTickNames, keptField, tickField } from './hand-ticks.ts';
import {
  chooseInstallWay,
  type InstallServices,
  prepareInstallWay,
  readShortcutFile,
  shortcutFileName,
} from './install-way.ts';
import { progressRetrySeconds } from './limits.ts';
import { renderLiveParts } from './live-parts.ts';
import type { FormProblem } from './page-forms.ts';
import { findSetup, readSetup, type Setup } from './read-setup.ts';
import { sendTestText } from './send-test-text.ts';
import { renderSetupClosed, renderSetupExpired, renderSetupPage, setupPageHeaders } from './setup-page.ts';
import { storeTickChanges } from './setup-store.ts';
import { startLockTest } from './start-lock-test.ts';

export type SetupServices = Runtime & InstallServices & ProgressServices & { readonly sends: SendBatcher };

const answers = Object.fromEntries([200, 400, 402, 404, 409, 503].map((status) => [status, Type.String()]));

type Field = ReturnType<typeof parseForm>;

/** How a page is shown, apart from the state of its setup. */
interface Shown {
  /** The chosen view, `phone` or `computer`; any other text lets the browser's kind decide. */
  readonly view: string;
  readonly isTokenShown: boolean;
  /** True after a click on the install button: only then may the signing command run. */
  readonly isPrepared?: true;
  /** The form that the page answers, if one was submitted. */
  readonly submitted?: FormProblem['form'];
  readonly problem?: FormProblem;
}

/**
 * Routes of the setup page (specification section 11.8). Opening the page changes nothing, because link scanners open
 * it, too. One click shows the token; another closes the link.
 */
export function setupPageRoutes(services: SetupServices): Route[] {
  const { config } = services;
  const base = withAppBasePath(config.appUrl, '');
  const headers = setupPageHeaders(base);
  const page = (html: string, status = 200): Answer => ({ status, body: html, headers });
  const expiredPage = () => page(renderSetupExpired(base), 404);
  /** Answers a click on the page of a link that ended after it was looked up. */
  const onExpired = (error: unknown): Answer => {
    if (error instanceof AppError && error.code === 'not_found') return expiredPage();
    throw error;
  };
  const formOf = (setup: Setup, isPhone: boolean, isTokenShown: boolean) => ({
    path: `${base}/setup/${setup.token}`,
    isPhone,
    isTokenShown,
  });
  const keepTicks = (setup: Setup, field: Field) =>
    storeTickChanges(
      services.database.pool,
      setup.link,
      changedTicks(
        handTickNames.filter((name) => field(tickField(name)) !== ''),
        field(keptField).split(' '),
      ),
    );
  const connectionOf = ({ link }: Setup, deviceToken: string) => ({
    server: deviceUrlOf(config, link.route),
    deviceToken,
  });
  const openAt = (setup: Setup, request: FastifyRequest) =>
    openAddress(request, [deviceUrlOf(config, setup.link.route), config.appUrl]);

  const show = async (setup: Setup, request: FastifyRequest, shown: Shown, status = 200): Promise<Answer> => {
    const { deviceToken } = shown.isTokenShown ? await claimDevice(services, setup.token) : {};
    const state = await readSetup(services, setup, openAt(setup, request));
    const known = state.progress.claimed
      ? services.secrets.deviceToken(setup.link.route, setup.token)
      : deviceToken;
    const connection = known === undefined ? undefined : connectionOf(setup, known);
    const way = await (connection && shown.isPrepared
      ? prepareInstallWay(services, connection, 26)
      : chooseInstallWay(services, connection, 26));
    const html = renderSetupPage({
      base,
      state,
      form: formOf(setup, isPhoneView(request, shown.view), shown.isTokenShown),
      isViewChosen: isView(shown.view),
      way,
      setupUrl: `${config.appUrl}/setup/${setup.token}`,
      deviceToken,
      isPrepared: shown.isPrepared ?? false,
      hasSigningFailed: services.signer !== undefined && way.kind === 'by_hand',
      submitted: shown.submitted,
      problem: shown.problem,
    });
    return page(html, status);
  };

  const withSetup =
    (handle: (setup: Setup, call: HandlerContext) => Promise<Answer>) =>
    async (call: HandlerContext): Promise<Answer> => {
      const setup = await findSetup(services, call.params.token ?? '');
      return setup ? handle(setup, call).catch(onExpired) : expiredPage();
    };

  /** Runs a form's work and shows the page again, with the problem if there is one. */
  const submit = (form: FormProblem['form'], work: (setup: Setup, field: Field) => Promise<void>) =>
    withSetup(async (setup, { request }) => {
      const field = parseForm(request);
      const shown = { view: field('view'), isTokenShown: field('token') === 'shown', submitted: form };
      try {
        await work(setup, field);
        return await show(setup, request, shown);
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'not_found') throw error;
        request.errorCode = error.code;
        const problem = { form, message: error.message, written: field('to').trim() };
        return { ...(await show(setup, request, { ...shown, problem }, error.status)) };
      }
    });

  return [
    route({
      method: 'GET',
      path: '/setup/:token',
      audience: 'page',
      answers,
      handle: withSetup((setup, { request, query }) =>
        show(setup, request, { view: viewOf(query), isTokenShown: false }),
      ),
    }),
    route({
      method: 'POST',
      path: '/setup/:token',
      audience: 'page',
      byToken: true,
      looseBody: textFieldsSchema('view', 'token'),
      // The signing command takes up to a minute, one file at a time, so it has its own bounded queue.
      ownQueue: true,
      answers,
      handle: withSetup((setup, { request }) =>
        show(setup, request, {
          view: parseForm(request)('view'),
          isTokenShown: true,
          isPrepared: true,
        }),
      ),
    }),
    route({
      method: 'GET',
      path: '/setup/:token/progress',
      audience: 'page',
      held: true,
      answers: { ...answers, 204: Type.String() },
      handle: withSetup(async (setup, { request, reply, query }) => {
        const isPhone = isPhoneView(request, viewOf(query));
        const address = openAt(setup, request);
        const read = async () => {
          const found = await findSetup(services, setup.token);
          if (!found) return undefined;
          const { progress, messageId } = await readSetup(services, found, address);
          const isLocking = progress.lockTest === 'running';
          const form = formOf(found, isPhone, false);
          return { ...renderLiveParts(progress, form), isLocking, messageId };
        };
        const outcome = await followProgress(
          services,
          setup,
          textOf(query, 'seen'),
          disconnectSignal(reply),
          read,
        );
        if (outcome.kind === 'ended') return expiredPage();
        if (outcome.kind === 'changed') return page(String(outcome.parts.markup));
        const headers = outcome.kind === 'full' ? { 'retry-after': String(progressRetrySeconds) } : {};
        return { status: 204, body: '', headers };
      }),
    }),
    route({
      method: 'POST',
      path: '/setup/:token/test-text',
      audience: 'page',
      byToken: true,
      looseBody: textFieldsSchema('view', 'token', 'to', 'after'),
      answers,
      handle: submit('text', (setup, field) =>
        sendTestText(services, setup, { written: field('to').trim(), after: countOf(field('after')) }),
      ),
    }),
    route({
      method: 'POST',
      path: '/setup/:token/lock-test',
      audience: 'page',
      byToken: true,
      looseBody: textFieldsSchema('view', 'token'),
      answers,
      handle: submit('lock', (setup) => startLockTest(services, setup)),
    }),
    route({
      method: 'POST',
      path: '/setup/:token/ticks',
      audience: 'page',
      byToken: true,
      looseBody: textFieldsSchema('view', 'token', keptField, ...handTickNames.map(tickField)),
      answers,
      handle: withSetup(async (setup, { request }) => {
        const field = parseForm(request);
        await keepTicks(setup, field);
        return show(setup, request, { view: field('view'), isTokenShown: field('token') === 'shown' });
      }),
    }),
    route({
      method: 'GET',
      path: '/setup/:token/files/:name',
      audience: 'page',
      answers: { 200: Type.Unknown(), 404: Type.String() },
      handle: withSetup(async (setup, { params, request }) => {
        const shortcut = shortcuts.find((one) => shortcutFileName(one) === params.name);
        const { progress } = await readSetup(services, setup, openAt(setup, request));
        const connection = progress.claimed
          ? connectionOf(setup, services.secrets.deviceToken(setup.link.route, setup.token))
          : undefined;
        const file = shortcut && (await readShortcutFile(services, shortcut, connection, 26));
        if (!shortcut || !file) return expiredPage();
        return {
          body: file,
          headers: {
            'content-type': 'application/x-apple-shortcut',
            'content-disposition': `attachment; filename="${shortcutFileName(shortcut)}"`,
          },
        };
      }),
    }),
    route({
      method: 'POST',
      path: '/setup/:token/done',
      audience: 'page',
      byToken: true,
      looseBody: textFieldsSchema('view', keptField, ...handTickNames.map(tickField)),
      answers,
      handle: withSetup(async (setup, { request }) => {
        const field = parseForm(request);
        // Without script, only a form sends the ticks of the steps, and this may be the first form.
        if (field('view') === 'phone') await keepTicks(setup, field);
        const { progress, address } = await readSetup(services, setup, openAt(setup, request));
        await closeSetupLink(services, setup.token);
        return page(
          renderSetupClosed(base, {
            phoneNumber: setup.number.phone_number,
            progress,
            addressProblem: address.problem,
          }),
        );
      }),
    }),
  ];
}

const isPhone = ({ headers }: FastifyRequest) => /\biPhone\b/.test(headers['user-agent'] ?? '');

const isView = (view: string) => view === 'phone' || view === 'computer';

/** Reads the count of test texts that a form contains; undefined without a valid count. */
const countOf = (text: string) => (/^\d{1,3}$/.test(text) ? Number(text) : undefined);

/** @param view `phone` or `computer` if the person chose; otherwise the browser's kind decides */
function isPhoneView(request: FastifyRequest, view: string): boolean {
  return view === 'phone' || (view !== 'computer' && isPhone(request));
}

/** The address among these at which an iPhone requested the page; undefined for other requests. */
function openAddress(request: FastifyRequest, urls: readonly string[]): string | undefined {
  return isPhone(request) ? urls.find((url) => request.headers.host === new URL(url).host) : undefined;
}

function textOf(query: unknown, name: string): string {
  const value = typeof query === 'object' && query !== null ? Reflect.get(query, name) : undefined;
  return typeof value === 'string' ? value : '';
}

const viewOf = (query: unknown) => textOf(query, 'view');
