import type { ReactNode } from 'react';
import type { MessageStatus } from '#contract/message.ts';
import { SearchField } from '#web/kit/search-field.tsx';
import { Select } from '#web/kit/select.tsx';
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
      <div className="min-w-52 flex-1 max-sm:basis-full">
        <SearchField
          label={texts.filters.contact}
          value={filters.contact ?? ''}
          onSearch={(contact) => onChange({ contact: contact || undefined })}
        />
      </div>
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
