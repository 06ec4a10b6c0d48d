import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { ConversationMessageList } from '#contract/conversation.ts';
import { type EraseContactRequest, type Erasure, erasureCountMax } from '#contract/erasure.ts';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { teamRequest } from '#web/api/team-requests.ts';
import { Checkbox } from '#web/kit/checkbox.tsx';
import type { DialogState } from '#web/kit/dialog.tsx';
import { TextField } from '#web/kit/field.tsx';
import { listOf } from '#web/kit/format.ts';
import { Loaded } from '#web/kit/load-state.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { Handle } from '#web/kit/text.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { forgetContact } from './compositions.ts';
import { texts as conversationTexts } from './texts.ts';

const { erase: texts } = conversationTexts;

const erase = (teamId: string, fields: EraseContactRequest) =>
  teamRequest<Erasure>(teamId, 'POST', '/erasures', fields);

/** Removes spaces and punctuation, so that a phone number can be typed in any format. */
const plain = (handle: string) => handle.toLowerCase().replaceAll(/[\s().-]/g, '');

/** Erases a contact. The dialog first lists the effects, and the person has to type the contact's handle. */
export function EraseDialog({
  thread: { contact, name, contact_handles },
  isOpen,
  onClose,
}: DialogState & {
  readonly thread: Pick<ConversationMessageList, 'contact' | 'name' | 'contact_handles'>;
}): ReactNode {
  const team = useTeam();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [isWhole, setIsWhole] = useState(false);
  const others = contact_handles.filter((handle) => handle !== contact);
  const fields = { contact, whole_contact: isWhole };
  // The counts are read each time the dialog opens, because the live stream does not announce their changes.
  const counts = useQuery({
    queryKey: [team.id, 'erasure', fields],
    queryFn: () => erase(team.id, { ...fields, dry_run: true }),
    enabled: isOpen,
    gcTime: 0,
  });
  const erasing = useMutation({
    mutationFn: () => erase(team.id, fields),
    onSuccess: async ({ status }) => {
      for (const handle of isWhole ? contact_handles : [contact]) forgetContact(team.id, handle);
      onClose();
      await navigate({ to: '/teams/$teamId/conversations', params: { teamId: team.id }, replace: true });
      notify(status === 'erased' ? texts.erased : texts.erasing);
    },
  });
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={onClose}
      title={texts.title({ contact: name ?? formatPhoneNumber(contact) })}
      action={texts.erase}
      cancel={texts.keep}
      look="danger"
      work={erasing}
      isHeld
      isDisabled={plain(typed) !== plain(contact)}
      fields={['contact']}
      onSubmit={() => erasing.mutate()}
    >
      {others.length > 0 && (
        <Checkbox
          label={texts.whole({ name: name ?? '' })}
          hint={texts.wholeWhat({ handles: listOf(others.map(formatPhoneNumber)) })}
          isOn={isWhole}
          onChange={setIsWhole}
        />
      )}
      <Loaded query={counts}>{(found) => <Facts found={found} />}</Loaded>
      <TextField
        name="contact"
        label={texts.confirm}
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
        <b className="font-medium text-ink">{texts.goes}</b>{' '}
        {texts.goesWhat({ messages: withFiles(messages, files) })}
        {waiting > 0 && ` ${upToMax(waiting, texts.cancelled, texts.manyCancelled)}`}
        {inFlight > 0 && ` ${texts.inFlight}`}
      </p>
      <p>
        <b className="font-medium text-ink">{texts.stays}</b> {texts.staysWhat}
        {isOptedOut && ` ${texts.staysOptedOut}`}
      </p>
      <p>{texts.outOfReach}</p>
    </div>
  );
}

type Counted = typeof texts.messages;

/** The server's count stops one above the maximum: such a count is shown as more than the maximum. */
const upToMax = (count: number, exactly: Counted, more: Counted) =>
  count > erasureCountMax ? more({ count: erasureCountMax }) : exactly({ count });

/** If the count of messages is only a lower bound, so is the count of files. */
function withFiles(count: number, files: number): string {
  const messages = upToMax(count, texts.messages, texts.manyMessages);
  if (count > erasureCountMax) return texts.withTheirFiles({ messages });
  return files === 0
    ? messages
    : texts.withFiles({ messages, files: upToMax(files, texts.files, texts.manyFiles) });
}
