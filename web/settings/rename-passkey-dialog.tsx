import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Passkey } from '#contract/account.ts';
import { Dialog } from '#web/kit/dialog.tsx';
import { DialogButtons } from '#web/kit/dialog-buttons.tsx';
import { Form, TextField } from '#web/kit/field.tsx';
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
    <Dialog
      isOpen={passkey !== undefined}
      onClose={close}
      title="Rename passkey"
      footer={
        <DialogButtons onCancel={close} form="rename-passkey" isBusy={work.isPending}>
          Rename passkey
        </DialogButtons>
      }
    >
      <Form
        id="rename-passkey"
        error={work.error}
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
      </Form>
    </Dialog>
  );
}
