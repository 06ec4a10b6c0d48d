/** Actor: performs an action. It has a kind, a public id, and a name for people. */
export interface Actor {
  /** `operator` uses the server's command line; `server` is Ownline itself. */
  readonly kind: 'key' | 'member' | 'account' | 'operator' | 'server';
  /** A public id; '' for the operator and the server. */
  readonly id: string;
  /** The name of the key, the person's e-mail address; '' for the operator and the server. */
  readonly name: string;
}

/** An actor with the origin of its request, as the audit log keeps it (specification section 12.6). */
export interface AuditActor extends Actor {
  /** Source address; '' for actions without a request. */
  readonly ip: string;
  /** `req_…`; '' for actions without a request. */
  readonly requestId: string;
}

/** At the server's own command line. */
export const operator: AuditActor = { kind: 'operator', id: '', name: '', ip: '', requestId: '' };

/** The server itself as the actor, without a caller. */
export const serverItself: AuditActor = { kind: 'server', id: '', name: '', ip: '', requestId: '' };
