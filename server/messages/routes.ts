import { Type } from 'typebox';
import { SendReplyRequest } from '#contract/conversation.ts';
import {
  AcceptedMessage,
  ListMessagesQuery,
  MessageDetail,
  MessageList,
  MessageLog,
  SendMessageRequest,
} from '#contract/message.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { messageBodyMaxBytes } from '#server/http/limits.ts';
import { type Answer, type HandlerContext, type Route, route } from '#server/http/route.ts';
import { invalid, notFound } from '#server/platform/app-error.ts';
import { cancelMessage } from './cancel-message.ts';
import { listMessageLog, listMessages } from './list-messages.ts';
import { messageDetailView, messageView } from './message.ts';
import { findContactOf, findMessage } from './message-store.ts';
import {
  cancelMessageExamples,
  getMessageExamples,
  listMessagesExamples,
  sendMessageExamples,
} from './route-examples.ts';
import { type SendBatcher, sendMessage } from './send-message.ts';
import { sendReply } from './send-reply.ts';
import { advanceTestMessage } from './test-messages.ts';
import { explainWaiting, notWaiting } from './waiting-reason.ts';

export function messageRoutes(services: Runtime & { readonly sends: SendBatcher }): Route[] {
  const send = async ({ principal, body, request }: HandlerContext<SendReplyRequest>): Promise<Answer> => {
    const answers = principal.actor.kind === 'member' || principal.answersForTeam;
    const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
    const { message, replayed } = await (answers ? sendReply : sendMessage)(
      services,
      principal,
      body,
      idempotencyKey,
    );
    const answer = { status: 202, body: message };
    return replayed ? { ...answer, headers: { 'idempotent-replayed': 'true' } } : answer;
  };
  return [
    route('POST /v1/messages/send', {
      audience: 'api',
      permission: 'messages:send',
      admission: { permit: 'own queue', bodyMaxBytes: messageBodyMaxBytes },
      text: {
        operationId: 'sendMessage',
        tag: 'Messages',
        summary: 'Send a message',
        description:
          'Queues a message for the iPhone that has the number `from`. The answer 202 means that the message is stored: it will be sent, or it will fail with a reason. Read what becomes of it with `GET /v1/messages/{id}`, with webhooks or with the events.\n\nSend an `Idempotency-Key` with each message. If no answer arrives, repeat the request with the same key: the message is accepted once.\n\nA recipient that opted out is refused with 400 and the `param` `to`. The error then has `opted_out_at`, and no other error has it. `GET /v1/opt-outs` lists these contacts.',
        examples: sendMessageExamples,
        headers: [
          {
            name: 'Idempotency-Key',
            description:
              'Identifies the send for 24 hours: a repeat with the same key and fields is answered like the first request, with `idempotent-replayed: true`.',
            schema: Type.String({ pattern: '^[\\x21-\\x7e]{1,255}$' }),
          },
        ],
      },
      body: SendMessageRequest,
      answers: { 202: AcceptedMessage },
      handle: send,
      ofMembers: { body: SendReplyRequest, handle: send },
    }),
    route('GET /v1/messages', {
      audience: 'api',
      permission: 'messages:read',
      text: {
        operationId: 'listMessages',
        tag: 'Messages',
        summary: 'List messages',
        description:
          'Lists the messages of the team, newest first. To read on, send the `cursor` of the answer with the next request, until `has_more` is false. Messages that arrive meanwhile make no listed message repeat or disappear.\n\nThe list leaves out when and why a message was sent, failed or waits: `GET /v1/messages/{id}` returns these fields.\n\nA page reads at most 10,000 messages. So with filters a page can be short or empty while `has_more` is true. Filters that exclude each other give an empty page.',
        examples: listMessagesExamples,
      },
      query: ListMessagesQuery,
      answers: { 200: MessageList },
      handle: async ({ principal, query }) => ({
        body: await listMessages(services, principal.teamId, query, messageView),
      }),
      ofMembers: {
        answers: { 200: MessageLog },
        handle: async ({ principal, query }) => ({
          body: await listMessageLog(services, principal.teamId, query),
        }),
      },
    }),
    route('GET /v1/messages/:id', {
      ids: { id: 'msg' },
      audience: 'api',
      permission: 'messages:read',
      text: {
        operationId: 'getMessage',
        tag: 'Messages',
        summary: 'Get a message',
        description: 'Returns a message with its times, and with the reason if it failed or still waits.',
        examples: getMessageExamples,
        headers: [
          {
            name: 'x-test-clock',
            description:
              'With a test key only: a timestamp. The message expires, or counts as unconfirmed, if that would have happened by this time.',
            schema: Type.String({ format: 'date-time' }),
          },
        ],
      },
      answers: { 200: MessageDetail },
      handle: async ({ principal, ids: { id: messageId }, request }) => {
        await advanceTestMessage(services, principal, messageId, request.headers['x-test-clock']);
        const { teamId } = principal;
        const message = await findMessage(services.database.pool, { teamId, messageId });
        if (!message) throw notFound('message');
        const [waiting, contactId] = [
          await explainWaiting(services, message),
          await findContactOf(services.database.pool, message),
        ];
        return { body: messageDetailView(message, waiting, contactId) };
      },
    }),
    route('POST /v1/messages/:id/cancel', {
      ids: { id: 'msg' },
      audience: 'api',
      permission: 'messages:send',
      audit: 'message.cancelled',
      text: {
        operationId: 'cancelMessage',
        tag: 'Messages',
        summary: 'Cancel a message',
        description:
          'Cancels a message that no iPhone has taken yet. The message fails with `cancelled` and no longer counts in its month.',
        examples: cancelMessageExamples,
      },
      answers: { 200: MessageDetail },
      handle: async ({ principal, ids, by }) => {
        const message = await cancelMessage(services, principal.teamId, ids.id, by);
        return {
          body: messageDetailView(message, notWaiting, await findContactOf(services.database.pool, message)),
        };
      },
    }),
  ];
}

/** Reads an idempotency key of 1 to 255 visible ASCII characters (specification section 4.3). */
function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw invalid(
    'Idempotency-Key',
    'Idempotency-Key must be sent once, with 1 to 255 visible ASCII characters.',
  );
}
