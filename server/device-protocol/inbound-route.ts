import { findDeviceByToken } from '#server/devices/device-store.ts';
import { recordInboundTests } from '#server/devices/record-inbound-tests.ts';
import type { ReceiveBatcher } from '#server/messages/receive-batcher.ts';
import { type Inbound, receiveMessage } from '#server/messages/receive-message.ts';
import type { TextOutcome } from '#server/messages/receive-texts.ts';
import { findNumber } from '#server/numbers/number-store.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { type DeviceCaller, type Route, route } from '#server/platform/http/route.ts';
import { textFieldsSchema } from '#server/platform/http/text-fields-schema.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { optionalField } from './device-body.ts';
import { readMedia } from './device-media.ts';
import { flatStrings } from './flat-strings.ts';
import { parseInboundBody } from './inbound-body.ts';
import { inboundBodyMaxBytes, inboundPerMinute } from './limits.ts';
import type { PollServices } from './poll.ts';
import { onFailure, refuse } from './refusal.ts';

type Services = PollServices & { readonly texts: ReceiveBatcher };

/** `unknown`: no device has this token. */
type Outcome = TextOutcome | { readonly kind: 'unknown' };

export function inboundRoute(services: Services): Route {
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
    permitsInParts: true,
    onFailure,
    handle: async ({ request, device, withPermit }) => {
      const parsed = parseInboundBody(request.body);
      if (!parsed || parsed === 'too_large') return refuse(parsed ?? 'unreadable');
      const body = parsed.fields;
      const media = await readMedia(parsed);
      const inbound: Inbound = {
        from: optionalField(body, 'from') ?? '',
        text: body.get('text') ?? '',
        recipients: optionalField(body, 'recipients'),
        deviceGivenId: optionalField(body, 'id'),
        run: optionalField(body, 'run'),
        media: typeof media === 'object' ? media : undefined,
      };
      const outcome = await services.texts.receive<Outcome>({ device, inbound }, () =>
        withPermit(() => receiveAlone(services, device, inbound)),
      );
      failpoint('text stored');
      if (outcome.kind === 'unknown') return refuse('unauthorized');
      if (outcome.kind === 'ended') {
        device.endToken(outcome.reason);
        return refuse(outcome.reason);
      }
      const owner = { team_id: device.teamId, id: device.deviceId };
      await recordInboundTests(services, owner, outcome.receivedTests, inbound.text, withPermit);
      const answer = { ok: '1', id: publicId('msg', outcome.id) };
      if (media === undefined) return { body: answer };
      const problem = media === 'unreadable' ? media : outcome.problem;
      if (problem)
        services.logger.info(
          { messageId: answer.id, problem },
          'the file of an inbound message was not stored',
        );
      return { body: { ...answer, media: problem ?? 'stored' } };
    },
  });
}

/** Stores a message in a transaction of its own, if its device may still deliver messages. */
async function receiveAlone(
  services: PollServices,
  { teamId, numberId, tokenHash }: DeviceCaller,
  inbound: Inbound,
): Promise<Outcome> {
  const device = await findDeviceByToken(services.database.pool, tokenHash);
  if (!device) return { kind: 'unknown' };
  const number = await findNumber(services.database.pool, teamId, numberId);
  if (!number || number.deleted_at) return { kind: 'ended', reason: 'deleted' };
  // A later setup link of the number ended this token. A token that a newer phone superseded still delivers replies.
  if (device.ended_at) return { kind: 'ended', reason: 'superseded' };
  const { id, problem } = await receiveMessage(services, number, inbound);
  return { kind: 'received', id, receivedTests: device.received_tests, problem };
}
