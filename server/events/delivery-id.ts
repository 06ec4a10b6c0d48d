/** SQL for the id of an event's delivery to the webhook with this index (derived from the event's id). */
export function sqlDeliveryId(eventId: string, index: string): string {
  return `overlay(${eventId}::text PLACING lpad(to_hex(${index}), 8, '0') FROM 29)::uuid`;
}

/** SQL condition: the id may belong to a delivery of the event. These ids are one range of the primary key. */
export function sqlDeliveryIdRange(id: string, eventId: string): string {
  const bound = (index: string) => `overlay(${eventId}::text PLACING '${index}' FROM 29)::uuid`;
  return `${id} BETWEEN ${bound('00000000')} AND ${bound('ffffffff')}`;
}
