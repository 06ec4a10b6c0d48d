import { Type } from 'typebox';
import { PublishedShortcuts } from '#contract/published-shortcuts.ts';
import { builtWebFiles, renderEntryPage, shellHeaders } from '#server/dashboard/web/web-files.ts';
import { claimDevice } from '#server/devices/setup-link.ts';
import { type Html, html, withAppBasePath } from '#server/http/html.ts';
import { type Answer, type HandlerContext, type Route, route } from '#server/http/route.ts';
import { AppError } from '#server/platform/app-error.ts';
import { shortcuts } from '#shortcut/shortcuts.ts';
import { byHandPage } from './by-hand-page.ts';
import { type InstallServices, publishedForms, readShortcutFile, shortcutFileName } from './install-way.ts';
import { connectionOf, getSetup, type Setup, type SetupServices } from './read-setup.ts';
import { getSetupFacts } from './setup-store.ts';

const over = html`<p>This setup link no longer works: it was closed, is older than 24 hours, or a newer one was made. Ask the person who sent it for a new one.</p>`;

const withoutScript = (path: string) =>
  html`<p>The steps of this page need JavaScript. Without it, a technician can build both shortcuts by hand.</p>
<form method="post" action="${path}/by-hand"><button>Show the list, with address and token</button></form>`;

/**
 * The pages and files below a setup link. The shell loads the page's script, which asks for
 * the state. Opening them changes nothing, because link scanners open them, too.
 */
export function setupPageRoutes(services: SetupServices): Route[] {
  const { config, clock, database } = services;
  const base = withAppBasePath(config.appUrl, '');
  const shell = async (status: number, noScript: Html): Promise<Answer> => {
    const body = html`<div id="root"></div><noscript>${noScript}</noscript>`;
    const entry = await builtWebFiles.findEntry('setup/main.tsx');
    const page = { title: 'Connect an iPhone · Ownline', base, nowMs: clock.nowMs(), entry, body };
    return { status, body: renderEntryPage(page), headers: shellHeaders };
  };
  const byHand = async (setup: Setup, { request }: HandlerContext, deviceToken?: string) => {
    const form = Object(request.query).ios === '26' ? 26 : 27;
    const { server } = connectionOf(services, setup);
    return byHandPage(base, { path: `${base}/setup/${setup.token}`, server, deviceToken, form });
  };
  /** A route of a setup link. Once the link has expired or was closed, it answers 404 with the page's HTML. */
  const page = (
    address: `${'GET' | 'POST'} ${string}`,
    handle: (setup: Setup, call: HandlerContext) => Promise<Answer>,
  ) =>
    route(address, {
      audience: 'page',
      answers: { 200: Type.Unknown(), 404: Type.String() },
      handle: async (call) => {
        try {
          return await handle(await getSetup(services, call.params.token ?? ''), call);
        } catch (error) {
          if (error instanceof AppError && error.code === 'not_found') return shell(404, over);
          throw error;
        }
      },
    });

  return [
    page('GET /setup/:token', ({ token }) => shell(200, withoutScript(`${base}/setup/${token}`))),
    page('GET /setup/:token/by-hand', byHand),
    page('POST /setup/:token/by-hand', async (setup, call) =>
      byHand(setup, call, (await claimDevice(services, setup.token)).deviceToken),
    ),
    page('GET /setup/:token/files/:form/:name', async (setup, { params }) => {
      const shortcut = shortcuts.find((one) => shortcutFileName(one) === params.name);
      const form = ([26, 27] as const).find((one) => String(one) === params.form);
      const { device_id } = await getSetupFacts(database.pool, setup.link);
      const connection = device_id === null ? undefined : connectionOf(services, setup);
      const file = shortcut && form && (await readShortcutFile(services, shortcut, connection, form));
      if (!file) return shell(404, over);
      return {
        body: file,
        headers: {
          'content-type': 'application/x-apple-shortcut',
          'content-disposition': `attachment; filename="${params.name}"`,
        },
      };
    }),
  ];
}

/** The route for what the dashboard says before a phone is connected: which shortcuts are published. */
export function publishedShortcutsRoutes(services: InstallServices): Route[] {
  return [
    route('GET /app/teams/:team_id/shortcuts', {
      audience: 'team',
      permission: 'numbers:read',
      answers: { 200: PublishedShortcuts },
      handle: async () => {
        const ways = await publishedForms(services);
        return { body: { ios_26: ways[26], ios_27: ways[27] } };
      },
    }),
  ];
}
