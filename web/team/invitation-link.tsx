import type { ReactNode } from 'react';
import { CopyRow } from '#web/kit/copy.tsx';

/** The link of an invitation on a server that sends no mail. */
export function InvitationLink({
  link,
  email,
}: {
  readonly link: string;
  readonly email: string;
}): ReactNode {
  return (
    <div className="flex flex-col gap-3">
      <CopyRow value={link} what="the link" />
      <p className="text-quiet">
        This server sends no mail at present, so give the link to {email} yourself. It works once, for 7 days,
        and is shown only now. “Send again” makes a new one.
      </p>
    </div>
  );
}
