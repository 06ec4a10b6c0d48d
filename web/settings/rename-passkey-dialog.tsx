import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Passkey } from '#contract/account.ts';
import { TextField } from '#web/kit/field.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { renamePasskey, rereadAccount } from './account-queries.ts';

/** @param passkey undefined while the dialog is closed */
export function RenamePasskeyDialog({
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
