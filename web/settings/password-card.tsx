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
import { texts } from './texts.ts';

export function PasswordCard(): ReactNode {
  const { account } = useOverview();
  const { isRecent, session } = useRecentSignIn();
  const [times, setTimes] = useState(0);
  const work = useMutation({
    mutationFn: (values: Readonly<Record<string, string>>) =>
      setPassword(values.password ?? '', values.current_password),
    onSuccess: async () => {
      setTimes(times + 1);
      notify(texts.password.saved, texts.password.othersOut);
      await rereadAccount();
    },
  });
  const isAsked = work.error instanceof ApiError && work.error.param === 'current_password';
  // The server's first refusal means that the password is needed. So the form shows a password field instead of an
  // error.
  const error = isAsked && !work.variables?.current_password ? null : work.error;
  const needsCurrent = isAsked || (account.has_password && !(isRecent && session?.method === 'link'));
  const title = account.has_password ? texts.password.changeTitle : texts.password.setTitle;
  if (!account.has_password && session !== undefined && !isRecent) {
    return (
      <Card title={title}>
        <p className="text-quiet">{texts.password.signInAgain}</p>
      </Card>
    );
  }
  return (
    <Card title={title} description={account.has_password ? texts.password.effect : texts.password.none}>
      <Form key={times} error={error} fields={['password', 'current_password']} onSubmit={work.mutate}>
        <input
          type="email"
          autoComplete="username"
          aria-label={texts.account.email}
          value={account.email}
          readOnly
          hidden
        />
        {needsCurrent && (
          <TextField
            name="current_password"
            label={texts.password.current}
            type="password"
            autoComplete="current-password"
            required
          />
        )}
        <TextField
          name="password"
          label={texts.password.new}
          type="password"
          autoComplete="new-password"
          hint={texts.password.newHint}
          required
          minLength={12}
          maxLength={200}
        />
        <Button type="submit" isBusy={work.isPending} className="self-start max-sm:self-stretch">
          {account.has_password ? texts.password.change : texts.password.set}
        </Button>
      </Form>
    </Card>
  );
}
