import type { ReactNode } from 'react';
import type { MadeInvitation } from '#contract/member.ts';
import { CopyRow } from '#web/kit/copy.tsx';
import { DueTime } from '#web/kit/text.tsx';

/** The link of an invitation that is not mailed. */
export function InvitationLink({
  invitation: { accept_url = '', email, expires_at },
}: {
  readonly invitation: MadeInvitation;
}): ReactNode {
  return (
    <div className="flex flex-col gap-3">
      <CopyRow value={accept_url} what="the link" />
      <p className="text-quiet">
        This link was not mailed, so give it to {email} yourself. It works once, expires{' '}
        <DueTime at={expires_at} />, and is shown only now. “Copy link” makes a new one.
      </p>
    </div>
  );
}
