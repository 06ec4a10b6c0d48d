import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useRef } from 'react';
import { ApiError } from '#web/api/request.ts';
import type { DialogState } from '#web/kit/dialog.tsx';
import { TextField } from '#web/kit/field.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useOverview } from '#web/shell/session.ts';
import { addPasskey, passkeyOptions, rereadAccount } from './account-queries.ts';
import { deviceName } from './browser-name.ts';
import { createPasskey } from './create-passkey.ts';
import { useRecentSignIn } from './recent-sign-in.ts';
import { texts } from './texts.ts';

/** Asks for a name, and for the password if the sign-in is not recent. Then the browser creates the passkey. */
export function AddPasskeyDialog({ isOpen, onClose }: DialogState): ReactNode {
  const { account } = useOverview();
  const { isRecent, session } = useRecentSignIn();
  // A created passkey is kept, so that the next request can send it with the password.
  const made = useRef<object>(undefined);
  const work = useMutation({
    mutationFn: async ({ name = '', current_password }: Readonly<Record<string, string>>) => {
      made.current ??= await createPasskey(await passkeyOptions());
      return addPasskey(name, made.current, current_password);
    },
    onSuccess: async ({ name }) => {
      close();
      notify(texts.passkeys.added, texts.passkeys.signInWith({ name }));
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
  // The server's first refusal means that the password is needed. So the form shows a password field instead of an
  // error.
  const error = isAsked && !work.variables?.current_password ? null : work.error;
  const needsPassword = isAsked || (account.has_password && session !== undefined && !isRecent);
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={close}
      title={texts.passkeys.addTitle}
      description={texts.passkeys.addNext}
      action={texts.passkeys.add}
      work={work}
      error={error}
      fields={['name', 'current_password']}
      onSubmit={(values) => work.mutate(values)}
    >
      <TextField
        name="name"
        label={texts.passkeys.name}
        hint={texts.passkeys.nameHint}
        defaultValue={deviceName()}
        required
        maxLength={100}
      />
      {needsPassword && (
        <TextField
          name="current_password"
          label={texts.password.current}
          hint={texts.password.currentHint}
          type="password"
          autoComplete="current-password"
          required
        />
      )}
    </FormDialog>
  );
}
