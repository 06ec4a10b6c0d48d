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
import { Hint } from '#web/kit/text.tsx';
import { Time } from '#web/kit/time.tsx';
import { notify } from '#web/kit/toast.tsx';
import { passkeysQuery, removePasskey, renamePasskey, rereadAccount } from './account-queries.ts';
import { AddPasskeyDialog } from './add-passkey-dialog.tsx';
import { canMakePasskeys } from './create-passkey.ts';
import { texts } from './texts.ts';

export function PasskeysCard(): ReactNode {
  const passkeys = useQuery(passkeysQuery);
  const [isAdding, setIsAdding] = useState(false);
  const [renamed, setRenamed] = useState<Passkey>();
  const [removed, setRemoved] = useState<Passkey>();
  const add = canMakePasskeys && (
    <Button size="small" onClick={() => setIsAdding(true)}>
      <Plus /> {texts.passkeys.add}
    </Button>
  );
  return (
    <Card
      isFlush
      title={texts.passkeys.title}
      description={texts.passkeys.description}
      actions={passkeys.data && passkeys.data.passkeys.length > 0 && add}
    >
      <Loaded query={passkeys}>
        {({ passkeys: list }) =>
          list.length === 0 ? (
            <EmptyState icon={<Fingerprint />} title={texts.passkeys.none} action={add}>
              {canMakePasskeys ? texts.passkeys.whyAdd : texts.passkeys.onlyHttps}
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
                    <Hint>{usesOf(passkey)}</Hint>
                  </div>
                  <div className="flex gap-2">
                    <Button
                      size="small"
                      aria-label={texts.passkeys.renameOne(passkey)}
                      onClick={() => setRenamed(passkey)}
                    >
                      {texts.passkeys.rename}
                    </Button>
                    <Button
                      size="small"
                      look="dangerQuiet"
                      aria-label={texts.passkeys.removeOne(passkey)}
                      onClick={() => setRemoved(passkey)}
                    >
                      {texts.passkeys.remove}
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
        title={texts.passkeys.removeTitle({ name: removed?.name ?? '' })}
        action={texts.passkeys.removeAction}
        onConfirm={async () => {
          if (!removed) return;
          await removePasskey(removed.id);
          await rereadAccount();
          notify(texts.passkeys.removed);
        }}
      >
        <p>{texts.passkeys.removeEffect}</p>
      </Confirm>
    </Card>
  );
}

/** When a passkey was added and last used. */
function usesOf({ created_at, last_used_at }: Passkey): ReactNode {
  const added = <Time at={created_at} />;
  return last_used_at === null
    ? texts.passkeys.unused({ added })
    : texts.passkeys.used({ added, used: <Time at={last_used_at} /> });
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
      title={texts.passkeys.renameTitle}
      action={texts.passkeys.renameTitle}
      work={work}
      fields={['name']}
      onSubmit={({ name = '' }) => work.mutate(name)}
    >
      <TextField
        key={passkey?.id}
        name="name"
        label={texts.passkeys.name}
        defaultValue={passkey?.name ?? ''}
        required
        maxLength={100}
      />
    </FormDialog>
  );
}
