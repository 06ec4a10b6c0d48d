import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ApiError } from '#web/api/request.ts';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Form, TextField } from '#web/kit/field.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useOverview } from '#web/shell/session.ts';
import { rereadAccount, setPassword } from './account-queries.ts';
import { useRecentSignIn } from './recent-sign-in.ts';

export function PasswordCard(): ReactNode {
  const { account } = useOverview();
  const { isRecent, session } = useRecentSignIn();
  const [times, setTimes] = useState(0);
  const work = useMutation({
    mutationFn: (values: Readonly<Record<string, string>>) =>
      setPassword(values.password ?? '', values.current_password),
    onSuccess: async () => {
      setTimes(times + 1);
      notify('Your password is set', 'Every other browser of yours is signed out.');
      await rereadAccount();
    },
  });
  const isAsked = work.error instanceof ApiError && work.error.param === 'current_password';
  // The server's first refusal means that the password is needed. So the form shows a password field instead of an
  // error.
  const error = isAsked && !work.variables?.current_password ? null : work.error;
  const needsCurrent = isAsked || (account.has_password && !(isRecent && session?.method === 'link'));
  const title = account.has_password ? 'Change your password' : 'Set a password';
  if (!account.has_password && session !== undefined && !isRecent) {
    return (
      <Card title={title}>
        <p className="text-quiet">
          You have none yet, and signed in more than 15 minutes ago. To set one, sign out, sign in again, and
          come back here.
        </p>
      </Card>
    );
  }
  return (
    <Card
      title={title}
      description={
        account.has_password
          ? 'A new password signs every other browser of yours out.'
          : 'You have none yet: you sign in with a passkey or a link.'
      }
    >
      <Form key={times} error={error} fields={['password', 'current_password']} onSubmit={work.mutate}>
        <input
          type="email"
          autoComplete="username"
          aria-label="E-mail address"
          value={account.email}
          readOnly
          hidden
        />
        {needsCurrent && (
          <TextField
            name="current_password"
            label="Current password"
            type="password"
            autoComplete="current-password"
            required
          />
        )}
        <TextField
          name="password"
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="12 characters or more. A sentence is easier to remember than a word."
          required
          minLength={12}
          maxLength={200}
        />
        <Button type="submit" isBusy={work.isPending} className="self-start max-sm:self-stretch">
          {account.has_password ? 'Change password' : 'Set password'}
        </Button>
      </Form>
    </Card>
  );
}
