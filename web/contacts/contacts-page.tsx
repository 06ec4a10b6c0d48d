import { useNavigate, useSearch } from '@tanstack/react-router';
import { BookUser, FileUp, Pencil, Plus, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Contact } from '#contract/contact.ts';
import { useList } from '#web/api/lists.ts';
import { ContactAvatar } from '#web/kit/avatar.tsx';
import { Button, IconButton } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import { lazyDialog } from '#web/kit/lazy-dialog.tsx';
import { LoadMore } from '#web/kit/load-more.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState, Page } from '#web/kit/page.tsx';
import { SearchField } from '#web/kit/search-field.tsx';
import { type Column, Table } from '#web/kit/table.tsx';
import { useTeam } from '#web/shell/session.ts';
import { ContactDialog } from './contact-dialog.tsx';
import { contactsQuery, deleteContact, rereadContacts } from './contact-queries.ts';
import { HandleLink } from './handle-link.tsx';
import { texts } from './texts.ts';

const ImportDialog = lazyDialog(async () => (await import('./import-dialog.tsx')).ImportDialog);

/** The contacts of a team, found by name or last digits. */
export function ContactsPage(): ReactNode {
  const team = useTeam();
  const { q = '' } = useSearch({ from: '/teams/$teamId/contacts' });
  const navigate = useNavigate();
  const list = useList(contactsQuery(team.id, q));
  const [edited, setEdited] = useState<{ readonly id?: string }>();
  const [isImporting, setIsImporting] = useState(false);
  const [deleted, setDeleted] = useState<Contact>();
  const mayWrite = team.can('messages:send');
  const actions = mayWrite && (
    <>
      <Button onClick={() => setIsImporting(true)}>
        <FileUp /> {texts.import.open}
      </Button>
      <Button look="primary" onClick={() => setEdited({})}>
        <Plus /> {texts.dialog.add}
      </Button>
    </>
  );
  const columns: readonly Column<Contact>[] = [
    {
      head: texts.list.name,
      className: 'max-md:pr-22',
      cell: ({ name, note, handles: [contact = ''] }) => (
        <span className="flex items-center gap-3">
          <ContactAvatar contact={contact} name={name} />
          <span className="min-w-0">
            <bdi className="line-clamp-2 font-medium">{name}</bdi>
            {note !== '' && <span className="line-clamp-1 text-xs text-quiet">{note}</span>}
          </span>
        </span>
      ),
    },
    {
      head: texts.dialog.handles,
      className: 'w-2/5 max-md:pl-11',
      cell: (contact) => (
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {contact.handles.map((handle) => (
            <li key={handle} className="min-w-0 max-sm:py-1">
              <HandleLink contact={contact} handle={handle} />
            </li>
          ))}
        </ul>
      ),
    },
    ...(mayWrite
      ? [
          {
            head: texts.list.actions,
            className:
              'w-28 whitespace-nowrap md:text-right max-md:absolute max-md:top-2 max-md:right-1.5 max-md:last:pr-0',
            cell: (contact: Contact) => (
              <>
                <IconButton label={texts.list.edit(contact)} onClick={() => setEdited(contact)}>
                  <Pencil />
                </IconButton>
                <IconButton label={texts.list.delete(contact)} onClick={() => setDeleted(contact)}>
                  <Trash2 />
                </IconButton>
              </>
            ),
          },
        ]
      : []),
  ];
  const isEmpty = q === '' && list.query.data?.rows.length === 0;
  return (
    <Page title={texts.title} description={texts.about} actions={!isEmpty && actions}>
      <Card isFlush>
        {!isEmpty && (
          <div className="border-b border-line p-3">
            <SearchField
              label={texts.list.search}
              value={q}
              onSearch={(text) => void navigate({ to: '.', search: { q: text || undefined }, replace: true })}
              isBusy={list.query.isPlaceholderData}
            />
          </div>
        )}
        <Loaded query={list.query}>
          {({ rows }) => {
            if (rows.length > 0)
              return <Table label={texts.title} columns={columns} rows={rows} keyOf={({ id }) => id} />;
            return q === '' ? (
              <EmptyState icon={<BookUser />} title={texts.list.none} action={actions}>
                {texts.list.noneHow}
              </EmptyState>
            ) : (
              <EmptyState icon={<BookUser />} title={texts.list.nothing}>
                {texts.list.nothingHow({ text: q })}
              </EmptyState>
            );
          }}
        </Loaded>
        <LoadMore list={list} size="small" className="border-t border-line p-3">
          {texts.list.more}
        </LoadMore>
      </Card>
      <ContactDialog id={edited?.id} isOpen={edited !== undefined} onClose={() => setEdited(undefined)} />
      <ImportDialog isOpen={isImporting} onClose={() => setIsImporting(false)} />
      <Confirm
        isOpen={deleted !== undefined}
        onClose={() => setDeleted(undefined)}
        title={texts.delete.title({ name: deleted?.name ?? '' })}
        action={texts.delete.action}
        onConfirm={async () => {
          if (deleted) await deleteContact(team.id, deleted.id);
          await rereadContacts(team.id);
        }}
      >
        <p>{texts.delete.effect}</p>
      </Confirm>
    </Page>
  );
}
