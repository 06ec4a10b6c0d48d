import type { Static } from 'typebox';
import type { AccountAnswer, AccountSessionList, Passkey, PasskeyList } from '#contract/account.ts';
import { queryClient } from '#web/api/query-client.ts';
import { request } from '#web/api/request.ts';

const accountRead = <Answer>(path: string) => ({
  queryKey: ['account', path],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
    request<Answer>('GET', `/app/account${path}`, { signal }),
});

export const sessionsQuery = accountRead<Static<typeof AccountSessionList>>('/sessions');
export const passkeysQuery = accountRead<Static<typeof PasskeyList>>('/passkeys');

export const rereadAccount = () => queryClient.invalidateQueries({ queryKey: ['account'] });

export const renameAccount = (name: string) =>
  request<Static<typeof AccountAnswer>>('PUT', '/app/account', { body: { name } });

export const setPassword = (password: string, current: string | undefined) =>
  request('PUT', '/app/account/password', { body: { password, ...withCurrent(current) } });

export const endSession = (id: string) => request('DELETE', `/app/account/sessions/${id}`);

export const signOutEverywhere = () => request('POST', '/app/account/sign-out-everywhere', { body: {} });

export const passkeyOptions = () =>
  request<Record<string, unknown>>('POST', '/app/account/passkeys/options', { body: {} });

export const addPasskey = (name: string, response: object, current: string | undefined) =>
  request<Passkey>('POST', '/app/account/passkeys', { body: { name, response, ...withCurrent(current) } });

export const renamePasskey = (id: string, name: string) =>
  request<Passkey>('PUT', `/app/account/passkeys/${id}`, { body: { name } });

export const removePasskey = (id: string) => request('DELETE', `/app/account/passkeys/${id}`);

/** An empty field means no password. */
function withCurrent(current: string | undefined): { readonly current_password?: string } {
  return current === undefined || current === '' ? {} : { current_password: current };
}
