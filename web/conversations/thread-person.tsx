import { Link } from '@tanstack/react-router';
import { UserPlus } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ConversationMessageList } from '#contract/conversation.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Handle } from '#web/kit/text.tsx';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';

const { head } = texts;

/** The contact of a thread by name, the handle, the team's number, and the other handles of the person. */
export function ThreadPerson({
  thread: { number, contact, name, contact_handles },
  onAddName,
}: {
  readonly thread: ConversationMessageList;
  /** undefined if the contact has a name, or the person may not give one. */
  readonly onAddName: (() => void) | undefined;
}): ReactNode {
  const others = contact_handles.filter((handle) => handle !== contact);
  const ownNumber = <Handle value={number.phone_number} />;
  return (
    <div className="min-w-0 flex-1">
      <div className="flex items-center gap-2">
        <h2 className="truncate text-[0.9375rem] font-semibold">
          {name === null ? <Handle value={contact} /> : <bdi>{name}</bdi>}
        </h2>
        {onAddName && (
          <button
            type="button"
            onClick={onAddName}
            className="shrink-0 rounded-md px-1.5 text-xs font-medium text-accent-ink hover:bg-accent-tint max-sm:py-2"
          >
            <UserPlus aria-hidden="true" className="size-5 sm:hidden" />
            <span className="max-sm:sr-only">{head.addName}</span>
          </button>
        )}
      </div>
      <p className="flex items-center gap-1.5 truncate text-xs text-quiet">
        <span className="truncate">
          {name !== null && (
            <>
              <Handle value={contact} /> ·{' '}
            </>
          )}
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
      {others.length > 0 && (
        <p className="truncate text-xs text-quiet">
          {head.alsoFrom}{' '}
          {others.map((handle, index) => (
            <span key={handle}>
              {index > 0 && ', '}
              <OtherHandle phoneNumber={number.phone_number} handle={handle} />
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

function OtherHandle({ phoneNumber, handle }: { readonly phoneNumber: string; readonly handle: string }) {
  return (
    <Link
      to="/teams/$teamId/conversations/$phoneNumber/$contact"
      params={{ teamId: useTeam().id, phoneNumber, contact: handle }}
      search={true}
      className="underline underline-offset-2 hover:text-ink"
    >
      <Handle value={handle} />
    </Link>
  );
}
