import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type Erasure, erasureCountMax } from '#contract/erasure.ts';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { teamRequest } from '#web/api/team-requests.ts';
import type { DialogState } from '#web/kit/dialog.tsx';
import { TextField } from '#web/kit/field.tsx';
import { counted } from '#web/kit/format.ts';
import { Loaded } from '#web/kit/load-state.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { Handle } from '#web/kit/text.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';

const erase = (teamId: string, contact: string, dryRun: boolean) =>
  teamRequest<Erasure>(teamId, 'POST', '/erasures', { contact, dry_run: dryRun });

/** Removes spaces and punctuation, so that a phone number can be typed in any format. */
const plain = (handle: string) => handle.toLowerCase().replaceAll(/[\s().-]/g, '');

/** Erases a contact. The dialog first lists the effects, and the person has to type the contact's handle. */
export function EraseDialog({
  contact,
  isOpen,
  onClose,
}: DialogState & { readonly contact: string }): ReactNode {
  const team = useTeam();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  // The counts are read each time the dialog opens, because the live stream does not announce their changes.
  const counts = useQuery({
    queryKey: [team.id, 'erasure', contact],
    queryFn: () => erase(team.id, contact, true),
    enabled: isOpen,
    gcTime: 0,
  });
  const erasing = useMutation({
    mutationFn: () => erase(team.id, contact, false),
    onSuccess: async ({ status }) => {
      onClose();
      await navigate({ to: '/teams/$teamId/conversations', params: { teamId: team.id }, replace: true });
      notify(status === 'erased' ? 'The contact is erased' : 'The contact is being erased');
    },
  });
  const name = formatPhoneNumber(contact);
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Erase ${name}?`}
      action="Erase contact"
      cancel="Keep it"
      look="danger"
      work={erasing}
      isHeld
      isDisabled={plain(typed) !== plain(contact)}
      fields={['contact']}
      onSubmit={() => erasing.mutate()}
    >
      <Loaded query={counts}>{(found) => <Facts found={found} />}</Loaded>
      <TextField
        name="contact"
        label="To confirm, type the handle"
        hint={<Handle value={contact} />}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

function Facts({ found }: { readonly found: Erasure }): ReactNode {
  const { messages, waiting, in_flight: inFlight, files, opted_out: isOptedOut } = found;
  return (
    <div className="flex flex-col gap-3 text-quiet">
      <p>
        <b className="font-medium text-ink">Goes for good:</b> the handle, texts and media of{' '}
        {upToMax(messages, 'message')}
        {andFiles(messages, files)}, with every number of the team; what webhooks answered; the conversation.
        {waiting > 0 &&
          ` Cancelled first: ${upToMax(waiting, 'message')} that ${waiting === 1 ? 'waits' : 'wait'}.`}
        {inFlight > 0 && ' A message that an iPhone has now is erased once the iPhone has reported.'}
      </p>
      <p>
        <b className="font-medium text-ink">Stays:</b> the times and states of the messages, the usage, and an
        entry in the audit log without the handle.
        {isOptedOut && ' The contact stays opted out: sends to it are refused.'}
      </p>
      <p>Ownline can’t reach the iPhone’s own conversation, what webhooks were sent, and earlier backups.</p>
    </div>
  );
}

/** The server counts up to one more than the maximum. */
function upToMax(count: number, noun: string): string {
  return count > erasureCountMax ? `more than ${counted(erasureCountMax, noun)}` : counted(count, noun);
}

/** If the count of messages is only a lower bound, so is the count of files. */
function andFiles(messages: number, files: number): string {
  if (messages > erasureCountMax) return ' and their files';
  return files > 0 ? ` and ${upToMax(files, 'file')}` : '';
}
