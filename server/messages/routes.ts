import { AcceptedMessage, MessageDetail, SendMessageRequest } from '#contract/message.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { invalid, notFound } from '#server/platform/app-error.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { parseId } from '#server/platform/ids.ts';
import type { SendAcceptor } from './accept-sends.ts';
import { findMessage } from './message-store.ts';
import { messageDetailView } from './message-view.ts';
import { sendMessage } from './send-message.ts';
import { waitingReason } from './waiting-reason.ts';

export function messageRoutes(services: Runtime & { readonly sends: SendAcceptor }): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/messages/send',
      audience: 'api',
      permission: 'messages:send',
      body: SendMessageRequest,
      answers: { 202: AcceptedMessage },
      handle: async ({ principal, body, request }) => {
        const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
        const { message, replayed } = await sendMessage(services, principal.teamId, {
          ...body,
          idempotencyKey,
        });
        return { status: 202, body: message, headers: replayed ? { 'idempotent-replayed': 'true' } : {} };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/messages/:id',
      audience: 'api',
      permission: 'messages:read',
      answers: { 200: MessageDetail },
      handle: async ({ principal, params }) => {
        const id = parseId('msg', params.id ?? '');
        const message = id && (await findMessage(services.database.pool, principal.teamId, id));
        if (!message) throw notFound('message');
        const reason = await waitingReason(services.database.pool, message, services.clock.now());
        return { body: messageDetailView(message, reason) };
      },
    }),
  ];
}

/** 1 to 255 visible ASCII characters (specification section 4.3); undefined where the header is not sent. */
function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw invalid(
    'Idempotency-Key',
    'Idempotency-Key must be sent once, with 1 to 255 visible ASCII characters.',
  );
}
