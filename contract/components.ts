import type { TSchema } from 'typebox';
import { Contact, ContactList, ContactRequest, ImportedContacts } from './contact.ts';
import { PublicConversation, PublicConversationList } from './conversation.ts';
import { Deleted } from './deleted.ts';
import { ErrorBody } from './errors.ts';
import { Event, EventList, eventEnvelopes } from './event.ts';
import { UploadedMedia } from './media.ts';
import {
  ChangeRoleRequest,
  Invitation,
  InvitationList,
  InviteRequest,
  Member,
  MemberList,
} from './member.ts';
import { AcceptedMessage, Message, MessageDetail, MessageList, SendMessageRequest } from './message.ts';
import {
  NumberDetail,
  NumberList,
  NumberResource,
  SetupLink,
  UpdatedNumber,
  UpdateNumberRequest,
  VerifyNumberRequest,
} from './number.ts';
import { OptOut, OptOutList } from './opt-out.ts';
import { Team, UpdateTeamRequest } from './team.ts';
import {
  Attempt,
  CreatedWebhook,
  CreateWebhookRequest,
  Delivery,
  DeliveryDetail,
  DeliveryList,
  QueuedReplay,
  ReplayRequest,
  RotatedSecret,
  UpdateWebhookRequest,
  Webhook,
  WebhookList,
} from './webhook.ts';

export const components: Readonly<Record<string, TSchema>> = {
  Error: ErrorBody,
  Team,
  UpdateTeamRequest,
  Member,
  MemberList,
  ChangeRoleRequest,
  Invitation,
  InvitationList,
  InviteRequest,
  Number: NumberResource,
  NumberDetail,
  NumberList,
  UpdatedNumber,
  UpdateNumberRequest,
  VerifyNumberRequest,
  SetupLink,
  Deleted,
  Message,
  MessageDetail,
  MessageList,
  AcceptedMessage,
  SendMessageRequest,
  Conversation: PublicConversation,
  ConversationList: PublicConversationList,
  UploadedMedia,
  OptOut,
  OptOutList,
  Contact,
  ContactList,
  ContactRequest,
  ImportedContacts,
  Webhook,
  WebhookList,
  CreatedWebhook,
  CreateWebhookRequest,
  UpdateWebhookRequest,
  RotatedSecret,
  Delivery,
  DeliveryList,
  DeliveryDetail,
  Attempt,
  ReplayRequest,
  QueuedReplay,
  Event,
  EventList,
  MessageReceivedEvent: eventEnvelopes['message.received'],
  MessageSentEvent: eventEnvelopes['message.sent'],
  MessageDeliveredEvent: eventEnvelopes['message.delivered'],
  MessageFailedEvent: eventEnvelopes['message.failed'],
  ContactOptedOutEvent: eventEnvelopes['contact.opted_out'],
  ContactOptedInEvent: eventEnvelopes['contact.opted_in'],
  NumberOfflineEvent: eventEnvelopes['number.offline'],
  NumberOnlineEvent: eventEnvelopes['number.online'],
};
