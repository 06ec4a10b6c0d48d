import {
  Deleted,
  NumberList,
  SetupLinkAnswer,
  UpdatedNumber,
  UpdateNumberRequest,
  VerifyNumberRequest,
} from '#contract/number.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { firstIdAt, type NumberId, parseId } from '#server/platform/ids.ts';
import { deleteNumber, type NumberRemoved } from './delete-number.ts';
import { listNumbers } from './number-store.ts';
import { numberView, updatedNumberView } from './number-view.ts';
import { reconnectNumber } from './reconnect-number.ts';
import { updateNumber } from './update-number.ts';
import { verifyNumber } from './verify-number.ts';

export function numberRoutes(
  services: Runtime & { readonly participants: readonly NumberRemoved[] },
): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/numbers',
      audience: 'api',
      permission: 'numbers:read',
      answers: { 200: NumberList },
      handle: async ({ principal }) => {
        const today = new Date(services.clock.nowMs()).setUTCHours(0, 0, 0, 0);
        const numbers = await listNumbers(services.database.pool, principal.teamId, firstIdAt(today));
        return { body: { numbers: numbers.map(numberView) } };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/numbers/verify',
      audience: 'api',
      permission: 'numbers:write',
      body: VerifyNumberRequest,
      answers: { 200: SetupLinkAnswer },
      handle: async ({ principal, body }) => {
        const setupUrl = await verifyNumber(services, principal.teamId, body.phone_number);
        return { body: { message: openOnPhone(body.phone_number), setup_url: setupUrl } };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/numbers/:id/reconnect',
      audience: 'api',
      permission: 'numbers:write',
      answers: { 200: SetupLinkAnswer },
      handle: async ({ principal, params }) => {
        const { setupUrl, phoneNumber } = await reconnectNumber(services, principal.teamId, numberId(params));
        return { body: { message: openOnPhone(phoneNumber), setup_url: setupUrl } };
      },
    }),
    route({
      method: 'PUT',
      path: '/v1/numbers/:id',
      audience: 'api',
      permission: 'numbers:write',
      body: UpdateNumberRequest,
      answers: { 200: UpdatedNumber },
      handle: async ({ principal, params, body }) => {
        const number = await updateNumber(services, principal.teamId, numberId(params), body);
        return { body: updatedNumberView(number) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/v1/numbers/:id',
      audience: 'api',
      permission: 'numbers:write',
      answers: { 200: Deleted },
      handle: async ({ principal, params }) => {
        await deleteNumber(services, principal.teamId, numberId(params));
        return { body: { deleted: true } };
      },
    }),
  ];
}

function openOnPhone(phoneNumber: string): string {
  return `Open setup_url within 24 hours on the iPhone that has ${phoneNumber}, and follow the steps there.`;
}

function numberId(params: Readonly<Record<string, string>>): NumberId {
  const id = parseId('num', params.id ?? '');
  if (!id) throw notFound('number');
  return id;
}
