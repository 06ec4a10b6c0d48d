import type {
  Conversation,
  ConversationMessageList,
  SendReplyRequest,
  SetWaitingRequest,
  WaitingConversations,
} from '#contract/conversation.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import type { ApiAnswer } from '#test/support/service/api-client.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';

/** A service with the canary team. Each test gets a team with a number, and a member who reads its conversations. */
export function givenReader(): {
  readonly service: TestService;
  readonly team: TestTeam;
  readonly member: TeamMember;
  readonly number: ConnectedNumber;
} {
  const { service } = givenTeamBesideCanary();
  const team = givenEach(() => service.newTeam());
  const member = givenEach(() => newMember(service, team, 'viewer'));
  return { service, team, member, number: givenEach(() => connectNumber(service, team)) };
}

/** Returns the body of an answer. @throws unless the status is 200 */
function successOf<T>(answer: ApiAnswer): T {
  if (answer.status !== 200) throw new Error(`a request was answered ${answer.status}: ${answer.text}`);
  return answer.json as T;
}

/** An address such as `/app/teams/…/conversations/+14155550100/ada%40example.com`. */
export function pathOf(member: TeamMember, phoneNumber: string, contact: string): string {
  return member.in(`/conversations/${encodeURIComponent(phoneNumber)}/${encodeURIComponent(contact)}`);
}

export interface ConversationPage {
  readonly conversations: readonly Conversation[];
  readonly cursor: string;
  readonly has_more: boolean;
}

export async function listConversations(member: TeamMember, query = ''): Promise<ConversationPage> {
  return successOf(await member.get(member.in(`/conversations${query}`)));
}

/** Finds the conversation with a contact on the first page of the list. */
export async function findConversation(
  member: TeamMember,
  contact: string,
): Promise<Conversation | undefined> {
  return (await listConversations(member)).conversations.find((item) => item.contact === contact);
}

export async function readMessages(
  member: TeamMember,
  phoneNumber: string,
  contact: string,
  query = '',
): Promise<ConversationMessageList> {
  return successOf(await member.get(`${pathOf(member, phoneNumber, contact)}/messages${query}`));
}

export async function markRead(
  member: TeamMember,
  phoneNumber: string,
  contact: string,
  messageId: string,
): Promise<{ readonly read_until: string; readonly unread_count: number }> {
  return successOf(
    await member.put(`${pathOf(member, phoneNumber, contact)}/read`, { message_id: messageId }),
  );
}

export async function countWaiting(member: TeamMember): Promise<number> {
  const answer = await member.get(member.in('/conversations/waiting'));
  return successOf<WaitingConversations>(answer).waiting_conversations;
}

/** Marks a conversation as done up to a message, or lets it wait again. */
export async function setWaiting(
  member: TeamMember,
  { phoneNumber }: Pick<ConnectedNumber, 'phoneNumber'>,
  contact: string,
  change: SetWaitingRequest,
): Promise<ApiAnswer> {
  return member.put(`${pathOf(member, phoneNumber, contact)}/waiting`, change);
}

/** Sends a reply of a member to a contact. */
export function reply(
  writer: Pick<TeamMember, 'post' | 'in'>,
  { phoneNumber }: Pick<ConnectedNumber, 'phoneNumber'>,
  to: string,
  fields: Partial<SendReplyRequest> = {},
  idempotencyKey?: string,
): Promise<ApiAnswer> {
  const body = { from: phoneNumber, to, content: 'Hello', ...fields };
  const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
  return writer.post(writer.in('/messages/send'), body, headers);
}

/** Passes on a text from the contact. @returns the id of the message */
export async function receive(
  { wire }: Pick<ConnectedNumber, 'wire'>,
  from: string,
  text: string,
): Promise<string> {
  const { ok, id = '', reason } = await wire.call('inbound', { from, text });
  if (ok !== '1') throw new Error(`the server refused the inbound message: ${reason}`);
  return id;
}

/** Lets the phone take the next message and report it. @returns the id of the message */
export async function sendNext({ wire }: Pick<ConnectedNumber, 'wire'>): Promise<string> {
  const { action, id = '' } = await wire.poll();
  if (action !== 'send') throw new Error(`the poll was answered ${action}`);
  const answer = await wire.call('status', { id, status: 'delivered' });
  if (answer.ok !== '1') throw new Error(`the server refused the status: ${answer.reason}`);
  return id;
}

/** Sends like the shortcuts: the next poll reports the message as sent, without delivery. @returns the id */
export async function sendNextByShortcut({ wire }: Pick<ConnectedNumber, 'wire'>): Promise<string> {
  const { action, id = '' } = await wire.poll();
  if (action !== 'send') throw new Error(`the poll was answered ${action}`);
  const next = await wire.poll({ last: id });
  if (next.action !== 'idle') throw new Error(`the report was answered ${next.action}`);
  return id;
}
