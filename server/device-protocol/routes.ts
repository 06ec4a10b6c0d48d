import { claimDevice, createRequireOpenLink, deviceUrlOf } from '#server/devices/setup-link.ts';
import { type Route, route } from '#server/http/route.ts';
import { textFieldsSchema } from '#server/http/validate.ts';
import { findNumber } from '#server/numbers/number-store.ts';
import { AppError, invalid, notFound } from '#server/platform/app-error.ts';
import { parseId, publicId } from '#server/platform/ids.ts';
import { answerFailure, flatStrings, refuse } from './answers.ts';
import { optionalField, parseDeviceBody } from './device-body.ts';
import { inboundRoute } from './inbound-route.ts';
import { claimBodyMaxBytes, pollBodyMaxBytes, statusesPerMinute } from './limits.ts';
import { deviceMediaRoute } from './media-route.ts';
import type { PollServices } from './poll.ts';
import { pollRoute } from './poll-route.ts';

/**
 * Routes of the device protocol (specification section 11). They never change, because a shortcut on a phone can't be
 * updated remotely.
 */
export function deviceRoutes(services: PollServices): Route[] {
  return [
    claimRoute(services),
    pollRoute(services),
    inboundRoute(services),
    statusRoute(services),
    deviceMediaRoute(services),
  ];
}

function claimRoute(services: PollServices): Route {
  const requireOpenLink = createRequireOpenLink(services);
  return route('POST /v1/device/claim', {
    audience: 'device',
    looseBody: textFieldsSchema('token'),
    answers: { 200: flatStrings },
    admission: { ownToken: true, bodyMaxBytes: claimBodyMaxBytes },
    handle: async ({ request }) => {
      const body = parseDeviceBody(request.body);
      if (!body)
        throw new AppError('invalid_request', 'The body must be a JSON object with the field token.');
      const token = optionalField(body, 'token');
      if (token === undefined)
        throw invalid('token', 'token is required: it is the last part of the setup link.');
      await requireOpenLink(token, request.ip);
      const { deviceToken: given, link } = await claimDevice(services, token);
      const number = await findNumber(services.database.pool, {
        teamId: link.team_id,
        numberId: link.number_id,
      });
      if (!number || number.deleted_at) throw notFound('setup link');
      return {
        body: {
          device_token: given,
          server: deviceUrlOf(services.config, link.route),
          phone_number: number.phone_number,
        },
      };
    },
  });
}

function statusRoute(services: PollServices): Route {
  return route('POST /v1/device/status', {
    audience: 'device',
    admission: { bodyMaxBytes: pollBodyMaxBytes, tokenPerMinute: statusesPerMinute },
    looseBody: textFieldsSchema('id', 'status', 'error'),
    answers: { 200: flatStrings },
    failure: answerFailure,
    handle: async ({ request, device }) => {
      const body = parseDeviceBody(request.body);
      if (!body) return refuse('unreadable');
      const messageId = parseId('msg', optionalField(body, 'id') ?? '');
      const status = optionalField(body, 'status');
      if (status !== 'delivered' && status !== 'failed') return refuse('unknown_status');
      const known =
        messageId !== undefined &&
        (await services.reports.report(device, {
          messageId,
          sessionId: undefined,
          status: status === 'failed' ? 'not_delivered' : status,
          error: optionalField(body, 'error') ?? null,
        }));
      if (!known) return refuse('unknown_message');
      return { body: { ok: '1', id: publicId('msg', messageId) } };
    },
  });
}
