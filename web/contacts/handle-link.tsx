import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Contact } from '#contract/contact.ts';
import { Handle } from '#web/kit/text.tsx';
import { numbersQuery } from '#web/numbers/number-queries.ts';
import { useTeam } from '#web/shell/session.ts';

const style = 'text-accent-ink underline-offset-2 hover:underline';

/** A link to the conversation with a handle. A team with several numbers chooses among what a search finds. */
export function HandleLink({
  contact,
  handle,
}: {
  readonly contact: Contact;
  readonly handle: string;
}): ReactNode {
  const params = { teamId: useTeam().id };
  const [first, ...others] = useQuery(numbersQuery(params.teamId)).data?.numbers ?? [];
  if (first === undefined || others.length > 0) {
    const q = handle.startsWith('+') ? handle : contact.name;
    return (
      <Link to="/teams/$teamId/conversations" params={params} search={{ q }} className={style}>
        <Handle value={handle} />
      </Link>
    );
  }
  return (
    <Link
      to="/teams/$teamId/conversations/$phoneNumber/$contact"
      params={{ ...params, phoneNumber: first.phone_number, contact: handle }}
      className={style}
    >
      <Handle value={handle} />
    </Link>
  );
}
