import { findDeviceByToken, storeReceivedTests } from '#server/devices/device-store.ts';
import { countAutomations, inboundTestsOf } from '#server/devices/inbound-tests.ts';
import {
  type DeviceCaller,
  type EndedTokenReason,
  type HandlerContext,
  type Route,
  route,
} from '#server/http/route.ts';
import { textFieldsSchema } from '#server/http/validate.ts';
import { type Inbound, type Received, receiveMessage } from '#server/messages/receive-message.ts';
import { findNumber } from '#server/numbers/number-store.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { publicId } from '#server/platform/ids.ts';
import { answerFailure, flatStrings, refuse } from './answers.ts';
import { optionalField } from './device-body.ts';
import { parseInboundBody, readMedia } from './inbound-body.ts';
import { inboundBodyMaxBytes, inboundPerMinute } from './limits.ts';
import type { PollServices } from './poll.ts';

/**
 * The outcome of an inbound message, with the names of the inbound tests that the device has passed before. `ended`:
 * the device may no longer deliver messages. undefined: no device has this token.
 */
type Outcome =
  | (Received & { readonly receivedTests: readonly string[] })
  | { readonly ended: EndedTokenReason }
  | undefined;

const fieldNames = [
  'from',
  'text',
  'recipients',
  'id',
  'run',
  'again',
  'media',
  'media_type',
  'media_name',
  'v',
];

export function inboundRoute(services: PollServices): Route {
  return route('POST /v1/device/inbound', {
    audience: 'device',
    looseBody: textFieldsSchema(...fieldNames),
    answers: { 200: flatStrings },
    admission: {
      permit: 'in parts',
      bodyMaxBytes: inboundBodyMaxBytes,
      tokenPerMinute: inboundPerMinute,
      refusesEndedToken: true,
    },
    failure: answerFailure,
    handle: async ({ request, device, withPermit }) => {
      const parsed = parseInboundBody(request.body);
      if (!parsed || parsed === 'too_large') return refuse(parsed ?? 'unreadable');
      const body = parsed.fields;
      const media = await readMedia(parsed);
      const inbound = {
        from: optionalField(body, 'from') ?? '',
        text: body.get('text') ?? '',
        recipients: optionalField(body, 'recipients'),
        deviceGivenId: optionalField(body, 'id'),
        run: optionalField(body, 'run'),
        isAgain: optionalField(body, 'again') === 'yes',
        media: typeof media === 'object' ? media : undefined,
      };
      const outcome = await withPermit(() => receive(services, device, inbound));
      failpoint('text stored');
      if (!outcome) return refuse('unauthorized');
      if ('ended' in outcome) {
        device.endToken(outcome.ended);
        return refuse(outcome.ended);
      }
      await recordInboundTests(services, device, outcome.receivedTests, inbound.text, withPermit);
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
  call: Omit<Inbound, 'automations'>,
): Promise<Outcome> {
  const device = await findDeviceByToken(services.database.pool, { tokenHash });
  if (!device) return undefined;
  const number = await findNumber(services.database.pool, { teamId, numberId });
  if (!number || number.deleted_at) return { ended: 'deleted' };
  // A later setup link of the number ended this token. A token that a newer phone superseded still delivers replies.
  if (device.ended_at) return { ended: 'superseded' };
  const receivedTests = device.received_tests;
  const inbound = { ...call, automations: countAutomations(call.text, receivedTests) };
  return { ...(await receiveMessage(services, number, inbound)), receivedTests };
}

/**
 * Records the inbound tests that a received text passes. No statement runs if the phone
 * has passed these tests before. An error is only logged: the text is stored, and the phone should not send it again.
 * @param received names of the tests that the phone has passed before
 * @param withPermit runs the statement with a permit of the team
 */
async function recordInboundTests(
  { database, logger }: PollServices,
  { teamId, deviceId }: DeviceCaller,
  received: readonly string[],
  text: string,
  withPermit: HandlerContext['withPermit'],
): Promise<void> {
  const missing = inboundTestsOf(text).filter((name) => !received.includes(name));
  if (missing.length === 0) return;
  try {
    await withPermit(() => storeReceivedTests(database.pool, { teamId, deviceId, names: missing }));
  } catch (error) {
    logger.warn(
      { err: error, deviceId: publicId('dev', deviceId), tests: missing },
      'the inbound tests that a received text passed were not recorded',
    );
  }
}
