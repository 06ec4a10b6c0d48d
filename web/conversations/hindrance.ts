import type { ConversationMessageList } from '#contract/conversation.ts';
import { useTeam } from '#web/shell/session.ts';
import { useAdministratorNames } from '#web/team/administrators.ts';

/** The reason why the person cannot send in a conversation, with the next step; undefined where they can. */
export function useHindrance({ number, contact, opt_out }: ConversationMessageList): string | undefined {
  const team = useTeam();
  const administrators = useAdministratorNames();
  const canManage = team.can('numbers:write');
  if (!team.can('messages:send'))
    return `You can read here. To reply, ask ${administrators} for the role Member.`;
  if (opt_out) return 'This contact opted out, so nothing can be sent.';
  if (number.removed) return 'The number was deleted, so nothing can be sent from it.';
  if (!number.verified) return 'No iPhone is connected to this number yet.';
  if (number.status === 'paused') {
    return `The number is paused. ${canManage ? 'Resume it to send.' : `Ask ${administrators} to resume it.`}`;
  }
  if (!/^\+[1-9]\d{6,14}$/.test(contact)) return 'Replies go to phone numbers only.';
  return undefined;
}
