import { Type } from 'typebox';
import { e164Pattern } from './handles.ts';
import { closed, literals, nullable, timestamp } from './schema.ts';

export const messageStatuses = ['queued', 'polling', 'sent', 'delivered', 'failed', 'received'] as const;
export type MessageStatus = (typeof messageStatuses)[number];

export const directions = ['inbound', 'outbound'] as const;
export type Direction = (typeof directions)[number];

export const contentMaxCharacters = 5_000;

/** Why a message failed (specification section 3.2). */
export const failureCodes = [
  'expired',
  'cancelled',
  'number_removed',
  'media_unavailable',
  'media_too_large',
  'device_timeout',
  'device_error',
  'not_delivered',
] as const;
export type FailureCode = (typeof failureCodes)[number];

/** Why a queued message has not been handed out yet (specification section 4.3). */
export const waitingReasons = ['number_paused', 'phone_offline', 'phone_busy', 'earlier_message'] as const;
export type WaitingReason = (typeof waitingReasons)[number];

export const SendMessageRequest = closed({
  to: Type.String({ pattern: e164Pattern }),
  from: Type.String({ pattern: e164Pattern }),
  content: Type.String({ maxLength: contentMaxCharacters }),
  media_url: Type.Optional(nullable(Type.String())),
});
export type SendMessageRequest = Type.Static<typeof SendMessageRequest>;

/** The 202 of POST /v1/messages/send (specification section 4.3); status always says queued. */
export const AcceptedMessage = closed({
  id: Type.String(),
  status: Type.Literal('queued'),
  to: Type.String(),
  from: Type.String(),
  content: Type.String(),
  media_url: nullable(Type.String()),
  created_at: timestamp,
});
export type AcceptedMessage = Type.Static<typeof AcceptedMessage>;

/** GET /v1/messages/:id: every field of a message, times and reasons included (specification sections 2.6 and 4.3). */
export const MessageDetail = closed({
  id: Type.String(),
  to: Type.String(),
  from: Type.String(),
  content: Type.String(),
  media_url: nullable(Type.String()),
  status: literals(messageStatuses),
  direction: literals(directions),
  created_at: timestamp,
  sent_at: nullable(timestamp),
  delivered_at: nullable(timestamp),
  failed_at: nullable(timestamp),
  error_code: nullable(literals(failureCodes)),
  error_message: nullable(Type.String()),
  waiting_reason: nullable(literals(waitingReasons)),
  may_have_been_sent: Type.Boolean(),
});
export type MessageDetail = Type.Static<typeof MessageDetail>;
