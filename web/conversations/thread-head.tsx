import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Ban, ChevronLeft, Ellipsis, Eraser } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { ConversationMessageList } from '#contract/conversation.ts';
import { Badge } from '#web/kit/badge.tsx';
import { buttonStyle, IconButton } from '#web/kit/button.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import { Menu, MenuItem } from '#web/kit/menu.tsx';
import { Handle } from '#web/kit/text.tsx';
import { useLeave } from '#web/shell/leave.ts';
import { useTeam } from '#web/shell/session.ts';
import { optOut, rereadConversations } from './conversation-queries.ts';
import { DoneButton } from './done-button.tsx';
import { EraseDialog } from './erase-dialog.tsx';
import { texts } from './texts.ts';

const { head } = texts;

export function ThreadHead({ thread }: { readonly thread: ConversationMessageList }): ReactNode {
  const team = useTeam();
  const { number, contact, opt_out } = thread;
  const [isOptingOut, setIsOptingOut] = useState(false);
  const [isErasing, setIsErasing] = useState(false);
  const ownNumber = <Handle value={number.phone_number} />;
  const mayOptOut = team.can('messages:send') && !opt_out;
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
      <div className="min-w-0 flex-1">
        <h2 className="truncate text-[0.9375rem] font-semibold">
          <Handle value={contact} />
        </h2>
        <p className="flex items-center gap-1.5 truncate text-xs text-quiet">
          <span className="truncate">
            {number.label
              ? head.viaLabel({ label: number.label, number: ownNumber })
              : head.via({ number: ownNumber })}
          </span>
          {number.simulated && <Badge>{texts.simulated}</Badge>}
          {number.removed && <Badge tone="bad">{head.deleted}</Badge>}
          {!number.removed && number.status === 'paused' && <Badge tone="warn">{head.paused}</Badge>}
          {!number.removed && number.status === 'active' && number.health === 'offline' && (
            <Badge tone="bad">{head.offline}</Badge>
          )}
        </p>
      </div>
      <DoneButton thread={thread} />
      {(mayOptOut || mayErase) && (
        <Menu
          trigger={
            <IconButton label={head.more}>
              <Ellipsis />
            </IconButton>
          }
        >
          {mayOptOut && (
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
      {mayErase && <EraseDialog contact={contact} isOpen={isErasing} onClose={() => setIsErasing(false)} />}
      <Confirm
        isOpen={isOptingOut}
        onClose={() => setIsOptingOut(false)}
        title={texts.optOut.title}
        action={texts.optOut.optOut}
        onConfirm={() => optingOut.mutateAsync()}
      >
        <p>{texts.optOut.about({ contact: <Handle value={contact} /> })}</p>
      </Confirm>
    </header>
  );
}
