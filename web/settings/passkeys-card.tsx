import { useMutation, useQuery } from '@tanstack/react-query';
import { Fingerprint, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Passkey } from '#contract/account.ts';
import { Button } from '#web/kit/button.tsx';
import { Card, cardRow } from '#web/kit/card.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import { TextField } from '#web/kit/field.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState } from '#web/kit/page.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { Hint, Time } from '#web/kit/text.tsx';
import { notify } from '#web/kit/toast.tsx';
import { passkeysQuery, removePasskey, renamePasskey, rereadAccount } from './account-queries.ts';
import { AddPasskeyDialog } from './add-passkey-dialog.tsx';
import { canMakePasskeys } from './create-passkey.ts';

export function PasskeysCard(): ReactNode {
  const passkeys = useQuery(passkeysQuery);
  const [isAdding, setIsAdding] = useState(false);
  const [renamed, setRenamed] = useState<Passkey>();
  const [removed, setRemoved] = useState<Passkey>();
  const add = canMakePasskeys && (
    <Button size="small" onClick={() => setIsAdding(true)}>
      <Plus /> Add passkey
    </Button>
  );
  return (
    <Card
      isFlush
      title="Passkeys"
      description="Sign in with your fingerprint, your face or the PIN of your device, without a password."
      actions={passkeys.data && passkeys.data.passkeys.length > 0 && add}
    >
      <Loaded query={passkeys}>
        {({ passkeys: list }) =>
          list.length === 0 ? (
            <EmptyState icon={<Fingerprint />} title="No passkeys yet" action={add}>
              {canMakePasskeys
                ? 'Add one for this device. It can’t be guessed, and no other site can ask for it.'
                : 'This browser offers passkeys on https only. Open Ownline at an address that begins with https.'}
            </EmptyState>
          ) : (
            <ul>
              {list.map((passkey) => (
                <li
                  key={passkey.id}
                  className={`flex flex-wrap items-center justify-between gap-x-3 gap-y-2 ${cardRow}`}
                >
                  <div className="min-w-0">
                    <p className="font-medium">{passkey.name}</p>
                    <Hint>
                      Added <Time at={passkey.created_at} />,{' '}
                      {passkey.last_used_at === null ? (
                        'not used yet'
                      ) : (
                        <>
                          used <Time at={passkey.last_used_at} />
                        </>
                      )}
                    </Hint>
                  </div>
                  <div className="flex gap-2">
                    <Button
                      size="small"
                      aria-label={`Rename ${passkey.name}`}
                      onClick={() => setRenamed(passkey)}
                    >
                      Rename
                    </Button>
                    <Button
                      size="small"
                      look="dangerQuiet"
                      aria-label={`Remove ${passkey.name}`}
                      onClick={() => setRemoved(passkey)}
                    >
                      Remove
                    </Button>
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <AddPasskeyDialog isOpen={isAdding} onClose={() => setIsAdding(false)} />
      <RenamePasskeyDialog passkey={renamed} onClose={() => setRenamed(undefined)} />
      <Confirm
        isOpen={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title={`Remove “${removed?.name}”?`}
        action="Remove passkey"
        onConfirm={async () => {
          if (!removed) return;
          await removePasskey(removed.id);
          await rereadAccount();
          notify('The passkey is removed');
        }}
      >
        <p>It no longer signs you in here. Your device keeps it until you delete it there too.</p>
      </Confirm>
    </Card>
  );
}

/** @param passkey undefined while the dialog is closed */
function RenamePasskeyDialog({
  passkey,
  onClose,
}: {
  readonly passkey: Passkey | undefined;
  readonly onClose: () => void;
}): ReactNode {
  const work = useMutation({
    mutationFn: (name: string) => renamePasskey(passkey?.id ?? '', name),
    onSuccess: async () => {
      await rereadAccount();
      close();
    },
  });
  const close = () => {
    onClose();
    work.reset();
  };
  return (
    <FormDialog
      isOpen={passkey !== undefined}
      onClose={close}
      title="Rename passkey"
      action="Rename passkey"
      work={work}
      fields={['name']}
      onSubmit={({ name = '' }) => work.mutate(name)}
    >
      <TextField
        key={passkey?.id}
        name="name"
        label="Name"
        defaultValue={passkey?.name ?? ''}
        required
        maxLength={100}
      />
    </FormDialog>
  );
}
