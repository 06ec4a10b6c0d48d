import type { ReactNode } from 'react';
import type { MadeInvitation } from '#contract/member.ts';
import { CopyRow } from '#web/kit/copy.tsx';
import { DueTime } from '#web/kit/time.tsx';
import { texts } from './texts.ts';

/** The link of an invitation that is not mailed. */
export function InvitationLink({
  invitation: { accept_url = '', email, expires_at },
}: {
  readonly invitation: MadeInvitation;
}): ReactNode {
  return (
    <div className="flex flex-col gap-3">
      <CopyRow value={accept_url} what={texts.invite.theLink} />
      <p className="text-quiet">{texts.invite.notMailed({ email, at: <DueTime at={expires_at} /> })}</p>
    </div>
  );
}
