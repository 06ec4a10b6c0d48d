import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { allows, keyGrants, type Permission } from '#contract/permissions.ts';
import { queryClient } from '#web/api/query-client.ts';
import { Button } from '#web/kit/button.tsx';
import { Checkbox } from '#web/kit/checkbox.tsx';
import type { DialogState } from '#web/kit/dialog.tsx';
import { TextField } from '#web/kit/field.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { Hint } from '#web/kit/text.tsx';
import { useAdministratorNames, useOwnerNames } from '#web/shell/administrators.ts';
import { useTeam } from '#web/shell/session.ts';
import { createApiKey } from './api-key-queries.ts';
import { CreatedKey } from './created-key.tsx';
import { permissionsInOrder } from './permission-texts.ts';
import { texts } from './texts.ts';

/** Preselected permissions, which suit a program that sends. Every role that may create keys has them. */
const startingPermissions: ReadonlySet<Permission> = new Set(['messages:send', 'numbers:read']);

/** Warns about team:write, which only owners may choose, because the key can then do what an admin does in the team. */
const hintOf = (permission: Permission) =>
  permission === 'team:write' ? texts.create.teamWriteHint : permission;

/** Asks for a name and permissions, then shows the key. After the dialog is closed the key cannot be shown again. */
export function CreateKeyDialog({ isOpen, onClose }: DialogState): ReactNode {
  const team = useTeam();
  const administrators = useAdministratorNames();
  const owners = useOwnerNames();
  const mine = permissionsInOrder.filter((permission) => allows(keyGrants(team.role), permission));
  const [chosen, setChosen] = useState(startingPermissions);
  const [isTest, setIsTest] = useState(false);
  const [answers, setAnswers] = useState(false);
  // A test key may not change the team.
  const offered = isTest ? mine.filter((permission) => permission !== 'team:write') : mine;
  const permissions = offered.filter((permission) => chosen.has(permission));
  const maySend = permissions.includes('messages:send');
  const creation = useMutation({
    mutationFn: (name: string) =>
      createApiKey(team.id, { name, permissions, test: isTest, answers_for_team: answers && maySend }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [team.id, 'key'] }),
  });
  const close = () => {
    onClose();
    creation.reset();
    setChosen(startingPermissions);
    setIsTest(false);
    setAnswers(false);
  };
  const made = creation.data;
  const toggle = (permission: Permission, isOn: boolean) => {
    const next = new Set(chosen);
    if (isOn) next.add(permission);
    else next.delete(permission);
    setChosen(next);
  };
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={close}
      title={made ? texts.created.title : texts.create.title}
      description={made && texts.created.shownOnce}
      action={texts.create.action}
      work={creation}
      isHeld
      isDisabled={permissions.length === 0}
      fields={['name']}
      onSubmit={({ name = '' }) => creation.mutate(name)}
      answer={
        made && {
          content: <CreatedKey made={made} />,
          footer: (
            <Button look="primary" onClick={close}>
              {texts.created.done}
            </Button>
          ),
        }
      }
    >
      <TextField
        name="name"
        label={texts.create.name}
        placeholder={texts.create.namePlaceholder}
        required
        maxLength={100}
        hint={texts.create.nameHint}
      />
      <Checkbox label={texts.create.test} hint={texts.create.testHint} isOn={isTest} onChange={setIsTest} />
      {maySend && (
        <Checkbox
          label={texts.create.answers}
          hint={texts.create.answersHint}
          isOn={answers}
          onChange={setAnswers}
        />
      )}
      <fieldset className="flex flex-col gap-2.5">
        <legend className="mb-2 font-medium">{texts.create.keyMay}</legend>
        {offered.map((permission) => (
          <Checkbox
            key={permission}
            label={texts.permissions[permission]}
            hint={hintOf(permission)}
            isOn={chosen.has(permission)}
            onChange={(isOn) => toggle(permission, isOn)}
          />
        ))}
        {mine.length < permissionsInOrder.length && (
          <Hint>
            {team.can('team:write')
              ? texts.create.askOwners({ owners })
              : texts.create.askAdministrators({ administrators })}
          </Hint>
        )}
      </fieldset>
    </FormDialog>
  );
}
