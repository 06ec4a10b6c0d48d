import { Type } from 'typebox';
import { claimDevice } from '#server/devices/claim-device.ts';
import { findDeviceByToken } from '#server/devices/device-store.ts';
import { EndedTokenError } from '#server/devices/ended-token-error.ts';
import { recordInboundTests } from '#server/devices/record-inbound-tests.ts';
import { SetupLinkLookup } from '#server/devices/setup-link-lookup.ts';
import { receiveMessage } from '#server/messages/receive-message.ts';
import { reportMessage } from '#server/messages/report-message.ts';
import { findNumber } from '#server/numbers/number-store.ts';
import { AppError, invalid, notFound } from '#server/platform/app-error.ts';
import { type EndedTokenReason, type Route, route } from '#server/platform/http/route.ts';
import { textFieldsSchema } from '#server/platform/http/text-fields-schema.ts';
import { parseId, publicId } from '#server/platform/ids/ids.ts';
import { optionalField, parseDeviceBody } from './device-body.ts';
import { readMedia } from './device-media.ts';
import {
  claimBodyMaxBytes,
  inboundBodyMaxBytes,
  inboundPerMinute,
  pollBodyMaxBytes,
  statusesPerMinute,
} from './limits.ts';
import { deviceMediaRoute } from './media-route.ts';
import type { PollServices } from './poll.ts';
import { pollRoute } from './poll-route.ts';

const flatStrings = Type.Record(Type.String(), Type.String());

const refuse = (reason: string) => ({ body: { ok: '0', reason } });

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
  const links = new SetupLinkLookup(services);
  return route({
    method: 'POST',
    path: '/v1/device/claim',
    audience: 'device',
    byToken: true,
    looseBody: textFieldsSchema('token'),
    answers: { 200: flatStrings },
    bodyLimitBytes: claimBodyMaxBytes,
    handle: async ({ request }) => {
      const body = parseDeviceBody(request.body);
      if (!body)
        throw new AppError('invalid_request', 'The body must be a JSON object with the field token.');
      const token = optionalField(body, 'token');
      if (token === undefined)
        throw invalid('token', 'token is required: it is the last part of the setup link.');
      await links.requireOpen(token, request.ip);
      const { deviceToken: given, link } = await claimDevice(services, token);
      const number = await findNumber(services.database.pool, link.team_id, link.number_id);
      if (!number || number.deleted_at) throw notFound('setup link');
      return {
        body: { device_token: given, server: services.config.appUrl, phone_number: number.phone_number },
      };
    },
  });
}

function inboundRoute(services: PollServices): Route {
  return route({
    method: 'POST',
    path: '/v1/device/inbound',
    audience: 'device',
    looseBody: textFieldsSchema(
      'from',
      'text',
      'recipients',
      'id',
      'run',
      'media',
      'media_type',
      'media_name',
      'v',
    ),
    answers: { 200: flatStrings },
    bodyLimitBytes: inboundBodyMaxBytes,
    tokenPerMinute: inboundPerMinute,
    refusesEndedToken: true,
    onFailure,
    handle: async ({ request, device: { tokenHash, endToken } }) => {
      const body = parseDeviceBody(request.body);
      if (!body) return refuse('unreadable');
      const refuseEnded = (reason: EndedTokenReason) => {
        endToken(reason);
        return refuse(reason);
      };
      const device = await findDeviceByToken(services.database.pool, tokenHash);
      if (!device) return refuse('unauthorized');
      const number = await findNumber(services.database.pool, device.team_id, device.number_id);
      if (!number || number.deleted_at) return refuseEnded('deleted');
      // A later setup link of the number ended this token. A token that a newer phone superseded still delivers
      // replies.
      if (device.ended_at) return refuseEnded('superseded');
      const media = readMedia(body);
      const received = await receiveMessage(services, number, {
        from: optionalField(body, 'from') ?? '',
        text: body.get('text') ?? '',
        recipients: optionalField(body, 'recipients'),
        deviceGivenId: optionalField(body, 'id'),
        run: optionalField(body, 'run'),
        media: typeof media === 'object' ? media : undefined,
      });
      await recordInboundTests(services, device, body.get('text') ?? '');
      const answer = { ok: '1', id: publicId('msg', received.id) };
      if (media === undefined) return { body: answer };
      const problem = media === 'unreadable' ? media : received.problem;
      if (problem)
        services.logger.info(
          { messageId: answer.id, problem },
          'the file of an inbound message was not stored',
        );
      return { body: { ...answer, media: problem ?? 'stored' } };
    },
  });
}

function statusRoute(services: PollServices): Route {
  return route({
    method: 'POST',
    path: '/v1/device/status',
    audience: 'device',
    bodyLimitBytes: pollBodyMaxBytes,
    tokenPerMinute: statusesPerMinute,
    looseBody: textFieldsSchema('id', 'status', 'error'),
    answers: { 200: flatStrings },
    onFailure,
    handle: async ({ request, device }) => {
      const body = parseDeviceBody(request.body);
      if (!body) return refuse('unreadable');
      const messageId = parseId('msg', optionalField(body, 'id') ?? '');
      const status = optionalField(body, 'status');
      if (status !== 'delivered' && status !== 'failed') return refuse('unknown_status');
      const known =
        messageId !== undefined &&
        (await reportMessage(services, device, {
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

/** Answers an inbound message or status that could not be handled, with the reason. */
function onFailure(error: AppError): unknown {
  const { code, status } = error;
  if (error instanceof EndedTokenError) return refuse(error.reason).body;
  if (code === 'unauthorized' || code === 'rate_limited') return refuse(code).body;
  return refuse(status === 413 ? 'too_large' : 'unavailable').body;
}
