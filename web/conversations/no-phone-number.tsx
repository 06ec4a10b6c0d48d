import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { ConversationMessageList } from '#contract/conversation.ts';
import { Button, buttonStyle } from '#web/kit/button.tsx';
import { lazyDialog } from '#web/kit/lazy-dialog.tsx';
import { Handle } from '#web/kit/text.tsx';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';

const { hindrances } = texts;

const ContactDialog = lazyDialog(
  async () => (await import('#web/contacts/contact-dialog.tsx')).ContactDialog,
);

/** Whether a message can be sent to a handle. */
export const isPhoneNumber = (handle: string): boolean => /^\+[1-9]\d{6,14}$/.test(handle);

/** Says that replies need a phone number, and leads to a number of the person, or adds one. */
export function NoPhoneNumber({
  thread: { number, contact, contact_id, contact_handles },
}: {
  readonly thread: ConversationMessageList;
}): ReactNode {
  const team = useTeam();
  const [isAdding, setIsAdding] = useState(false);
  const phoneNumbers = contact_handles.filter(isPhoneNumber);
  return (
    <div className="flex flex-wrap items-center justify-center gap-3 border-t border-line bg-surface px-5 py-3 text-quiet">
      <p>{hindrances.noPhoneNumber}</p>
      {phoneNumbers.map((to) => (
        <Link
          key={to}
          to="/teams/$teamId/conversations/$phoneNumber/$contact"
          params={{ teamId: team.id, phoneNumber: number.phone_number, contact: to }}
          search={true}
          className={buttonStyle({ size: 'small' })}
        >
          {hindrances.writeTo({ number: <Handle value={to} /> })}
        </Link>
      ))}
      {phoneNumbers.length === 0 && contact.includes('@') && (
        <Button size="small" onClick={() => setIsAdding(true)}>
          {hindrances.addNumber}
        </Button>
      )}
      <ContactDialog
        id={contact_id ?? undefined}
        handle={contact}
        isOpen={isAdding}
        onClose={() => setIsAdding(false)}
      />
    </div>
  );
}
