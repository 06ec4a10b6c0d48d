import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useRef } from 'react';
import { ApiError } from '#web/api/request.ts';
import { Dialog, type DialogState } from '#web/kit/dialog.tsx';
import { DialogButtons } from '#web/kit/dialog-buttons.tsx';
import { Form, TextField } from '#web/kit/field.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useOverview } from '#web/shell/session.ts';
import { addPasskey, passkeyOptions, rereadAccount } from './account-queries.ts';
import { deviceName } from './browser-name.ts';
import { createPasskey } from './create-passkey.ts';
import { useRecentSignIn } from './recent-sign-in.ts';

/** Asks for a name, and for the password where the sign-in is not recent; then the browser asks the person. */
export function AddPasskeyDialog({ isOpen, onClose }: DialogState): ReactNode {
  const { account } = useOverview();
  const { isRecent, session } = useRecentSignIn();
  // The server asks for the password before it uses the passkey's answer up, so the same one is sent again with it.
  const made = useRef<object>(undefined);
  const work = useMutation({
    mutationFn: async ({ name = '', current_password }: Readonly<Record<string, string>>) => {
      made.current ??= await createPasskey(await passkeyOptions());
      return addPasskey(name, made.current, current_password);
    },
    onSuccess: async ({ name }) => {
      close();
      notify('The passkey is added', `Sign in with “${name}” next time.`);
      await rereadAccount();
    },
    onError: (error) => {
      const isKept =
        error instanceof ApiError && (error.param === 'current_password' || error.param === 'name');
      if (!isKept) made.current = undefined;
    },
  });
  const close = () => {
    made.current = undefined;
    onClose();
    work.reset();
  };
  const isAsked = work.error instanceof ApiError && work.error.param === 'current_password';
  // The first answer only says that the field is needed.
  const error = isAsked && !work.variables?.current_password ? null : work.error;
  const needsPassword = isAsked || (account.has_password && session !== undefined && !isRecent);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title="Add a passkey"
      description="Your browser asks for your fingerprint, your face or a PIN next."
      footer={
        <DialogButtons onCancel={close} form="add-passkey" isBusy={work.isPending}>
          Add passkey
        </DialogButtons>
      }
    >
      <Form
        id="add-passkey"
        error={error}
        fields={['name', 'current_password']}
        onSubmit={(values) => work.mutate(values)}
      >
        <TextField
          name="name"
          label="Name"
          hint="So that you recognise it in the list."
          defaultValue={deviceName()}
          required
          maxLength={100}
        />
        {needsPassword && (
          <TextField
            name="current_password"
            label="Present password"
            hint="You signed in more than 15 minutes ago."
            type="password"
            autoComplete="current-password"
            required
          />
        )}
      </Form>
    </Dialog>
  );
}
