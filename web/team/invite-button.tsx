import { UserPlus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '#web/kit/button.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { texts } from './texts.ts';

export function InviteButton(): ReactNode {
  const [isInviting, setIsInviting] = useState(false);
  return (
    <>
      <Button look="primary" onClick={() => setIsInviting(true)}>
        <UserPlus /> {texts.invite.button}
      </Button>
      <InviteDialog isOpen={isInviting} onClose={() => setIsInviting(false)} />
    </>
  );
}
