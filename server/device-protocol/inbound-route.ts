import { findDeviceByToken } from '#server/devices/device-store.ts';
import { recordInboundTests } from '#server/devices/record-inbound-tests.ts';
import { type Inbound, type Received, receiveMessage } from '#server/messages/receive-message.ts';
import { findNumber } from '#server/numbers/number-store.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { type DeviceCaller, type EndedTokenReason, type Route, route } from '#server/platform/http/route.ts';
import { textFieldsSchema } from '#server/platform/http/text-fields-schema.ts';
import { type MessageId, publicId } from '#server/platform/ids/ids.ts';
import { optionalField } from './device-body.ts';
import { readMedia } from './device-media.ts';
import { flatStrings } from './flat-strings.ts';
import { parseInboundBody } from './inbound-body.ts';
import { inboundBodyMaxBytes, inboundPerMinute } from './limits.ts';
import type { PollServices } from './poll.ts';
import { onFailure, refuse } from './refusal.ts';

/** The outcome of an inbound message. `unknown`: no device has this token. `ended`: the device may deliver no more. */
type Outcome =
  | {
      readonly kind: 'received';
      readonly id: MessageId;
      /** Names of the inbound tests that the device has passed before. */
      readonly receivedTests: readonly string[];
      readonly problem: Received['problem'];
    }
  | { readonly kind: 'ended'; readonly reason: EndedTokenReason }
  | { readonly kind: 'unknown' };

export function inboundRoute(services: PollServices): Route {
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
      const outcome = await withPermit(() => receive(services, device, inbound));
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

/** Stores a message, if its device may still deliver messages. */
async function receive(
  services: PollServices,
  { teamId, numberId, tokenHash }: DeviceCaller,
  inbound: Inbound,
): Promise<Outcome> {
  const device = await findDeviceByToken(services.database.pool, { tokenHash });
  if (!device) return { kind: 'unknown' };
  const number = await findNumber(services.database.pool, { teamId, numberId });
  if (!number || number.deleted_at) return { kind: 'ended', reason: 'deleted' };
  // A later setup link of the number ended this token. A token that a newer phone superseded still delivers replies.
  if (device.ended_at) return { kind: 'ended', reason: 'superseded' };
  const { id, problem } = await receiveMessage(services, number, inbound);
  return { kind: 'received', id, receivedTests: device.received_tests, problem };
}
