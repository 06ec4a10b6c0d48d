import type { FastifyReply } from 'fastify';
import { phoneQueueChannel } from '#server/database/channels.ts';
import { type Route, route } from '#server/http/route.ts';
import { disconnectSignal, isDisconnected } from '#server/http/stream-answer.ts';
import { textFieldsSchema } from '#server/http/validate.ts';
import { releaseMessage } from '#server/messages/release-message.ts';
import { type NumberId, parseId } from '#server/platform/ids.ts';
import { flatStrings, pollAnswer, unavailableAnswer } from './answers.ts';
import { type DeviceBody, optionalField, parseDeviceBody } from './device-body.ts';
import { overLimitHoldMs, pollBodyMaxBytes, pollsPerMinute } from './limits.ts';
import { type PollRequest, type PollResult, type PollServices, poll, reportLast } from './poll.ts';
import { DevicePoll } from './poll-registry.ts';

export function pollRoute(services: PollServices): Route {
  return route('POST /v1/device/poll', {
    audience: 'device',
    admission: { permit: 'held', bodyMaxBytes: pollBodyMaxBytes, tokenPerMinute: pollsPerMinute },
    looseBody: textFieldsSchema('session', 'last', 'last_status', 'last_error', 'device_name', 'os', 'v'),
    answers: { 200: flatStrings },
    failure: ({ code }) =>
      code === 'unauthorized' ? pollAnswer({ kind: 'stop', reason: 'unauthorized' }) : unavailableAnswer(),
    handle: async ({ request, reply, device, withPermit }) => {
      const body = parseDeviceBody(request.body);
      if (!body) return { body: unavailableAnswer() };
      const disconnect = disconnectSignal(reply);
      const pollRequest = { ...readPoll(body), device, disconnect, withPermit };
      if (device.isOverLimit) {
        // The poll's report is recorded even beyond the limit, because the phone sends it only once.
        await reportLast(services, pollRequest);
        return answerOverLimit(services, body, device.numberId, disconnect);
      }
      const result = await poll(services, pollRequest);
      if (result.kind === 'send' && isDisconnected(reply)) {
        await withPermit(() => releaseUndelivered(services, result));
        return hangUp(reply);
      }
      return { body: pollAnswer(result) };
    },
  });
}

function readPoll(body: DeviceBody): Pick<PollRequest, 'sessionId' | 'last' | 'description'> {
  const last = optionalField(body, 'last');
  const messageId = last === undefined ? undefined : parseId('msg', last);
  const session = optionalField(body, 'session');
  return {
    sessionId:
      session === undefined || session.toLowerCase() === 'new'
        ? undefined
        : (parseId('ses', session) ?? noSession),
    last: messageId && {
      messageId,
      failed: optionalField(body, 'last_status') === 'failed',
      error: optionalField(body, 'last_error') ?? null,
    },
    description: {
      name: optionalField(body, 'device_name') ?? '',
      systemVersion: optionalField(body, 'os') ?? '',
      shortcutVersion: optionalField(body, 'v') ?? '',
    },
  };
}

/** Replaces a malformed session id: it is never the current session, so the poll is answered with stop. */
const noSession = parseId('ses', 'ses_00000000000000000000000000');

/**
 * Returns the message to its position for the next poll, because the phone disconnected before the first byte of the
 * answer.
 */
async function releaseUndelivered(
  services: PollServices,
  result: Extract<PollResult, { kind: 'send' }>,
): Promise<void> {
  services.promotionCheck.forget(result.handOut.message_id);
  await releaseMessage(services, result.claimant, result.handOut.message_id);
  services.database.notify(phoneQueueChannel, [result.claimant.numberId]);
}

function hangUp(reply: FastifyReply): { body: unknown } {
  reply.hijack();
  reply.raw.destroy();
  return { body: undefined };
}

async function answerOverLimit(
  { clock, polls }: PollServices,
  body: DeviceBody,
  numberId: NumberId,
  disconnect: AbortSignal,
): Promise<{ body: unknown }> {
  const longPoll = new DevicePoll();
  longPoll.endAfter(clock, overLimitHoldMs);
  await polls.hold(numberId, longPoll, disconnect, () => longPoll.untilEnded());
  return { body: { action: 'idle', session: optionalField(body, 'session') ?? 'new', wait: '0' } };
}
