/**
 * The domain of demo teams (specification section 10.12). It is reserved for documentation (RFC 2606). No mail goes
 * to its addresses, and the server answers requests to its hosts itself.
 */
export const demoDomain = 'demo.example.com';

export function isDemoHost(host: string): boolean {
  return host === demoDomain || host.endsWith(`.${demoDomain}`);
}

export function isDemoAddress(email: string): boolean {
  return email.toLowerCase().endsWith(`@${demoDomain}`);
}
