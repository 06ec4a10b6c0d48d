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
import { useTeam } from '#web/shell/session.ts';
import { useAdministratorNames, useOwnerNames } from '#web/team/administrators.ts';
import { createApiKey } from './api-key-queries.ts';
import { CreatedKey } from './created-key.tsx';
import { permissionsInOrder, permissionTexts } from './permission-texts.ts';

/** Preselected permissions, which suit a program that sends. Every role that may create keys has them. */
const startingPermissions: ReadonlySet<Permission> = new Set(['messages:send', 'numbers:read']);

/** Warns the only role that may choose it, because the key can do what an admin does in the team. */
const teamWriteHint =
  'team:write. Worth an admin: the key can also change roles. Owners are told of each change.';

/** Asks for a name and permissions, then shows the key. After the dialog is closed the key cannot be shown again. */
export function CreateKeyDialog({ isOpen, onClose }: DialogState): ReactNode {
  const team = useTeam();
  const administrators = useAdministratorNames();
  const owners = useOwnerNames();
  const mine = permissionsInOrder.filter((permission) => allows(keyGrants(team.role), permission));
  const [chosen, setChosen] = useState(startingPermissions);
  const [isTest, setIsTest] = useState(false);
  // A test key may not change the team.
  const offered = isTest ? mine.filter((permission) => permission !== 'team:write') : mine;
  const permissions = offered.filter((permission) => chosen.has(permission));
  const creation = useMutation({
    mutationFn: (name: string) => createApiKey(team.id, { name, permissions, test: isTest }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [team.id, 'key'] }),
  });
  const close = () => {
    onClose();
    creation.reset();
    setChosen(startingPermissions);
    setIsTest(false);
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
      title={made ? 'Copy your key now' : 'Create an API key'}
      description={made ? 'It is shown this once. Ownline keeps only its hash.' : undefined}
      action="Create key"
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
              Done
            </Button>
          ),
        }
      }
    >
      <TextField
        name="name"
        label="Name"
        placeholder="Booking system"
        required
        maxLength={100}
        hint="The program that will use it."
      />
      <Checkbox
        label="Test key"
        hint="For tests of your program, without an iPhone: a simulated number, fictional recipients, nothing counted in the month. Test messages are shown by the API only, not here."
        isOn={isTest}
        onChange={setIsTest}
      />
      <fieldset className="flex flex-col gap-2.5">
        <legend className="mb-2 font-medium">The key may</legend>
        {offered.map((permission) => (
          <Checkbox
            key={permission}
            label={permissionTexts[permission]}
            hint={permission === 'team:write' ? teamWriteHint : permission}
            isOn={chosen.has(permission)}
            onChange={(isOn) => toggle(permission, isOn)}
          />
        ))}
        {mine.length < permissionsInOrder.length && (
          <Hint>
            {team.can('team:write')
              ? `A key that may invite people and change roles is worth an admin, so only owners make one. Ask ${owners}.`
              : `A key can’t do more than its maker. Ask ${administrators} for one that may do more.`}
          </Hint>
        )}
      </fieldset>
    </FormDialog>
  );
}
