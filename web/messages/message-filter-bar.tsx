import { Search, X } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { MessageStatus } from '#contract/message.ts';
import { IconButton } from '#web/kit/button.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { inputStyle, Select } from '#web/kit/field.tsx';
import type { MessageFilters } from './message-filters.ts';
import { statusTexts } from './status-texts.ts';
import { texts } from './texts.ts';

const statuses = Object.keys(statusTexts) as MessageStatus[];

export function MessageFilterBar({
  filters,
  onChange,
}: {
  readonly filters: MessageFilters;
  readonly onChange: (changed: MessageFilters) => void;
}): ReactNode {
  return (
    <div className="flex flex-wrap gap-2 border-b border-line p-3">
      <ContactField
        value={filters.contact ?? ''}
        onChange={(contact) => onChange({ contact: contact || undefined })}
      />
      <Select
        label={texts.filters.direction}
        isLabelHidden
        className="w-40 max-sm:flex-1"
        value={filters.direction ?? ''}
        options={[
          ['', texts.filters.anyDirection],
          ['outbound', texts.filters.sent],
          ['inbound', texts.filters.received],
        ]}
        onChange={(chosen) => onChange({ direction: chosen || undefined })}
      />
      <Select
        label={texts.filters.status}
        isLabelHidden
        className="w-40 max-sm:flex-1"
        value={filters.status ?? ''}
        options={[
          ['', texts.filters.anyStatus],
          ...statuses.map((status) => [status, statusTexts[status]] as const),
        ]}
        onChange={(status) => onChange({ status: status || undefined })}
      />
    </div>
  );
}

/** A search field for a contact. The search starts when the field loses focus, or on Enter. */
function ContactField({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (contact: string) => void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const submit = (typed: string) => {
    const isNumber = /^\+[\d\s().-]+$/.test(typed.trim());
    const contact = isNumber ? typed.replaceAll(/[\s().-]/g, '') : typed.trim();
    if (contact !== value) onChange(contact);
  };
  return (
    <search className="relative min-w-52 flex-1 max-sm:basis-full">
      <Search
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-quiet"
      />
      <input
        type="text"
        aria-label={texts.filters.contact}
        placeholder={texts.filters.contactExample}
        className={classNames(inputStyle, 'pr-9 pl-9')}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => submit(text)}
        onKeyDown={(event) => event.key === 'Enter' && submit(text)}
      />
      {text !== '' && (
        <IconButton
          label={texts.filters.clear}
          size="small"
          className="absolute top-1/2 right-1 h-7 -translate-y-1/2 px-1.5 max-sm:h-9"
          onClick={() => {
            setText('');
            submit('');
          }}
        >
          <X />
        </IconButton>
      )}
    </search>
  );
}
