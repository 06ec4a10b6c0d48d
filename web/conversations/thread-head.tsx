import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Ban, ChevronLeft, Ellipsis, Eraser, UserRoundPen } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { ConversationMessageList } from '#contract/conversation.ts';
import { buttonStyle, IconButton } from '#web/kit/button.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import { lazyDialog } from '#web/kit/lazy-dialog.tsx';
import { Menu, MenuItem } from '#web/kit/menu.tsx';
import { Handle } from '#web/kit/text.tsx';
import { useLeave } from '#web/shell/leave.ts';
import { useTeam } from '#web/shell/session.ts';
import { optOut, rereadConversations } from './conversation-queries.ts';
import { DoneButton } from './done-button.tsx';
import { texts } from './texts.ts';
import { ThreadPerson } from './thread-person.tsx';

const { head } = texts;

const ContactDialog = lazyDialog(
  async () => (await import('#web/contacts/contact-dialog.tsx')).ContactDialog,
);

const EraseDialog = lazyDialog(async () => (await import('./erase-dialog.tsx')).EraseDialog);

export function ThreadHead({ thread }: { readonly thread: ConversationMessageList }): ReactNode {
  const team = useTeam();
  const { number, contact, contact_id, name, opt_out } = thread;
  const [isOptingOut, setIsOptingOut] = useState(false);
  const [isErasing, setIsErasing] = useState(false);
  const [isNaming, setIsNaming] = useState(false);
  const mayWrite = team.can('messages:send');
  // A short code or a sender's name is no handle of a person.
  const mayName = mayWrite && /^\+|@/.test(contact);
  const mayErase = team.can('contacts:erase');
  const optingOut = useMutation({
    mutationFn: () => optOut(team.id, contact),
    onSuccess: () => rereadConversations(team.id, { phoneNumber: number.phone_number, contact }),
  });
  const navigate = useNavigate();
  const list = {
    to: '/teams/$teamId/conversations',
    params: { teamId: team.id },
    search: (filters: object) => filters,
  } as const;
  const leave = useLeave(() => void navigate({ ...list, replace: true }));
  return (
    <header className="flex min-h-16 items-center gap-2 border-b border-line bg-surface px-4 py-2 md:px-5">
      <Link
        {...list}
        onClick={(event) => {
          event.preventDefault();
          leave();
        }}
        aria-label={head.back}
        className={`${buttonStyle({ look: 'quiet', size: 'icon' })} -ml-2.5 md:hidden`}
      >
        <ChevronLeft />
      </Link>
      <ThreadPerson
        thread={thread}
        onAddName={contact_id === null && mayName ? () => setIsNaming(true) : undefined}
      />
      <DoneButton thread={thread} />
      {(mayWrite || mayErase) && (
        <Menu
          trigger={
            <IconButton label={head.more}>
              <Ellipsis />
            </IconButton>
          }
        >
          {mayName && (
            <MenuItem onSelect={() => setIsNaming(true)}>
              <UserRoundPen aria-hidden="true" /> {contact_id === null ? head.addName : head.editContact}
            </MenuItem>
          )}
          {mayWrite && !opt_out && (
            <MenuItem isDangerous onSelect={() => setIsOptingOut(true)}>
              <Ban aria-hidden="true" /> {head.optOut}
            </MenuItem>
          )}
          {mayErase && (
            <MenuItem isDangerous onSelect={() => setIsErasing(true)}>
              <Eraser aria-hidden="true" /> {head.erase}
            </MenuItem>
          )}
        </Menu>
      )}
      <ContactDialog
        id={contact_id ?? undefined}
        handle={contact}
        isOpen={isNaming}
        onClose={() => setIsNaming(false)}
      />
      {mayErase && <EraseDialog thread={thread} isOpen={isErasing} onClose={() => setIsErasing(false)} />}
      <Confirm
        isOpen={isOptingOut}
        onClose={() => setIsOptingOut(false)}
        title={texts.optOut.title}
        action={texts.optOut.optOut}
        onConfirm={() => optingOut.mutateAsync()}
      >
        <p>
          {texts.optOut.about({ contact: name === null ? <Handle value={contact} /> : <bdi>{name}</bdi> })}
        </p>
      </Confirm>
    </header>
  );
}
