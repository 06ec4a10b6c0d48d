import { Type } from 'typebox';
import { pageFields, pageQuery } from './paging.ts';
import { publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';

/** An action, or a refusal of one, with its actor (specification section 12.6). */
export const AuditEntry = strictObject({
  id: publicIdOf('aud', 'The id of the entry.'),
  at: timestamp('When the action was done or refused.'),
  actor: strictObject({
    kind: stringEnum(['key', 'member', 'account', 'operator', 'server']),
    id: Type.String({ description: 'key_…, usr_… or acc_…; "" for the operator and the server.' }),
    name: Type.String({ description: 'The name of the key, or the address of the person.' }),
  }),
  action: Type.String({ description: 'A noun and the change to it, such as `member.removed`.' }),
  target: Type.String({ description: 'The id of the changed resource; "" for the team itself.' }),
  details: Type.Record(Type.String(), Type.Unknown()),
  outcome: stringEnum(['done', 'refused']),
  error_code: Type.String({ description: 'Why the action was refused; "" if it was done.' }),
  ip: Type.String({ description: 'The IP address of the request; "" for the command line.' }),
  request_id: Type.String({ description: 'The id of the request, req_…; "" for the command line.' }),
});
export type AuditEntry = Type.Static<typeof AuditEntry>;

export const AuditPage = strictObject({
  entries: Type.Array(AuditEntry, { description: 'Newest first.' }),
  ...pageFields('aud', 'Send this value as `cursor` to get the next page; "" on an empty page.'),
});
export type AuditPage = Type.Static<typeof AuditPage>;

export const AuditQuery = strictObject(pageQuery('entries'));
export type AuditQuery = Type.Static<typeof AuditQuery>;
