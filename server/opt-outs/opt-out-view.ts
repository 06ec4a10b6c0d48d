import type { OptOut } from '#contract/opt-out.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { OptOutRow } from './opt-out-store.ts';

/** An opt-out as /v1 shows it (specification section 4.6). */
export function optOutView(row: OptOutRow): OptOut {
  return {
    id: publicId('opt', row.id),
    contact: row.contact,
    phone_number: row.phone_number,
    message_id: row.message_id && publicId('msg', row.message_id),
    opted_out_at: row.opted_out_at.toISOString(),
    ignored_start_at: row.ignored_start_at?.toISOString() ?? null,
  };
}
