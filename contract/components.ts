import type { TSchema } from 'typebox';
import { Deleted } from './deleted.ts';
import { ErrorBody } from './errors.ts';
import {
  ChangeRoleRequest,
  Invitation,
  InvitationList,
  InviteRequest,
  MadeInvitation,
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

/** The schemas that /v1/openapi.json shows by name. */
export const components: Readonly<Record<string, TSchema>> = {
  Error: ErrorBody,
  Team,
  UpdateTeamRequest,
  Member,
  MemberList,
  ChangeRoleRequest,
  Invitation,
  InvitationList,
  MadeInvitation,
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
};
