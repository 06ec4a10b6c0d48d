/** The actor of an action: its kind, public id and name. */
export interface Actor {
  /** `operator` uses the server's command line; `server` is Ownline itself. */
  readonly kind: 'key' | 'member' | 'account' | 'operator' | 'server';
  /** The public id of the key, member or account; '' for the operator and the server. */
  readonly id: string;
  /** The name of the key or the person's e-mail address; '' for the operator and the server. */
  readonly name: string;
}

/** An actor with the origin of the request, as the audit log records it (specification section 12.6). */
export interface AuditActor extends Actor {
  /** Client IP address; '' for actions without a request. */
  readonly ip: string;
  /** The request id (`req_…`); '' for actions without a request. */
  readonly requestId: string;
}

/** The actor of actions on the server's command line. */
export const operator: AuditActor = { kind: 'operator', id: '', name: '', ip: '', requestId: '' };

/** The actor of actions that the server performs by itself. */
export const serverItself: AuditActor = { kind: 'server', id: '', name: '', ip: '', requestId: '' };
