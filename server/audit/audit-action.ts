/**
 * Everything that the audit log can say was done, or was refused (specification section 12.6): a noun and what became of
 * it.
 */
export const auditActions = [
  'team.created',
  'team.renamed',
  'team.plan_changed',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'member.left',
  'invitation.made',
  'invitation.sent_again',
  'invitation.revoked',
  'key.created',
  'key.revoked',
  'number.connected',
  'number.reconnected',
  'number.changed',
  'number.deleted',
  'number.released',
  'webhook.created',
  'webhook.changed',
  'webhook.deleted',
  'webhook.secret_rotated',
  'webhook.rotation_finished',
  'webhook.tested',
  'webhook.redelivered',
  'webhook.replayed',
  'webhook.disabled',
  'account.made',
  'account.signed_in',
  'account.signed_out',
  'account.signed_out_everywhere',
  'account.session_ended',
  'account.renamed',
  'account.address_proven',
  'account.emptied',
  'account.password_set',
  'account.link_made',
  'account.passkey_added',
  'account.passkey_renamed',
  'account.passkey_removed',
] as const;
export type AuditAction = (typeof auditActions)[number];

export function isAuditAction(text: string): text is AuditAction {
  return auditActions.some((action) => action === text);
}
