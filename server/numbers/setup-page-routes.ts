import { Type } from 'typebox';
import type { Runtime } from '#server/database/runtime.ts';
import { claimDevice, closeSetupLink } from '#server/devices/claim-device.ts';
import { findOpenSetupLink, hasPhonePolled, type SetupLinkRow } from '#server/devices/device-store.ts';
import { AppError } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { pageHeaders } from '#server/platform/http/html-page.ts';
import { type Answer, type Route, route } from '#server/platform/http/route.ts';
import { explainUnreachableLinks } from '#server/platform/network/unreachable-links.ts';
import { findNumber, type NumberRow } from './number-store.ts';
import { renderSetupDone, renderSetupExpired, renderSetupPage } from './setup-page.ts';

const answers = { 200: Type.String(), 404: Type.String() };

/** An open link: its token, and the number that it connects a phone to. */
interface Setup {
  readonly number: NumberRow;
  readonly link: SetupLinkRow;
  readonly token: string;
}

/**
 * Routes of the setup page (specification section 11.8). Opening it changes nothing, so that a scanner that follows
 * links does no harm. A click shows the token, and Done closes the link.
 */
export function setupPageRoutes(services: Runtime): Route[] {
  const { pool } = services.database;
  const find = async (token: string): Promise<Setup | undefined> => {
    const link = await findOpenSetupLink(pool, sha256(token), services.clock.expiryNow());
    const number = link && (await findNumber(pool, link.team_id, link.number_id));
    return number && !number.deleted_at ? { number, link, token } : undefined;
  };
  const show = async ({ number, link, token }: Setup, deviceToken: string | undefined): Promise<Answer> =>
    page(
      renderSetupPage({
        phoneNumber: number.phone_number,
        server: services.config.appUrl,
        problems: explainUnreachableLinks(services.config, [services.config.appUrl]),
        doneUrl: `${services.config.appUrl}/setup/${token}/done`,
        deviceToken,
        connected: await hasPhonePolled(pool, link),
      }),
    );
  const withSetup =
    (handle: (setup: Setup) => Promise<Answer>) =>
    async ({ params }: { readonly params: Readonly<Record<string, string>> }): Promise<Answer> => {
      const setup = await find(params.token ?? '');
      return setup ? handle(setup).catch(onOver) : over();
    };
  return [
    route({
      method: 'GET',
      path: '/setup/:token',
      audience: 'page',
      answers,
      handle: withSetup((setup) => show(setup, undefined)),
    }),
    route({
      method: 'POST',
      path: '/setup/:token',
      audience: 'page',
      byToken: true,
      answers,
      handle: withSetup(async (setup) => show(setup, (await claimDevice(services, setup.token)).deviceToken)),
    }),
    route({
      method: 'POST',
      path: '/setup/:token/done',
      audience: 'page',
      byToken: true,
      answers,
      handle: withSetup(async ({ number, token }) => {
        await closeSetupLink(services, token);
        return page(renderSetupDone(number.phone_number));
      }),
    }),
  ];
}

function page(html: string, status = 200): Answer {
  return { status, body: html, headers: pageHeaders };
}

function over(): Answer {
  return page(renderSetupExpired(), 404);
}

/** The link ended between the look-up and the click. */
function onOver(error: unknown): Answer {
  if (error instanceof AppError && error.code === 'not_found') return over();
  throw error;
}
