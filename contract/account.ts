import { Type } from 'typebox';
import { emailMaxCharacters, passwordFieldMaxCharacters } from './member.ts';
import { roles } from './permissions.ts';
import { nullable, publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';
import { nameMaxCharacters } from './team.ts';

const signInMethods = ['link', 'password', 'passkey', 'invitation'] as const;
export type SignInMethod = (typeof signInMethods)[number];

const email = Type.String({
  minLength: 1,
  maxLength: emailMaxCharacters,
  description: 'The address that the account belongs to; upper and lower case are the same.',
  examples: ['ada@example.com'],
});
const password = Type.String({ maxLength: passwordFieldMaxCharacters, description: '12 to 200 characters.' });
const personName = Type.String({
  minLength: 1,
  maxLength: nameMaxCharacters,
  description: `As the person calls themselves, 1 to ${nameMaxCharacters} characters.`,
  examples: ['Ada Example'],
});

/** A person who can sign in (specification section 12.1). */
export const Account = strictObject({
  id: publicIdOf('acc', 'The id of the account.'),
  email,
  name: personName,
  has_password: Type.Boolean({ description: 'false: the person signs in by link or passkey.' }),
});
export type Account = Type.Static<typeof Account>;

export const AccountTeam = strictObject({
  id: publicIdOf('team', 'The id of the team.'),
  name: Type.String({ description: 'The name of the team.' }),
  role: stringEnum(roles, {
    description: 'The role of the person in the team, which decides their permissions.',
  }),
  member_id: publicIdOf('usr', 'The id of the membership.'),
});
export type AccountTeam = Type.Static<typeof AccountTeam>;

export const AccountAnswer = strictObject({ account: Account });
/** The signed-in account and its teams, in the order in which the account joined them. */
export const AccountOverview = strictObject({
  account: Account,
  teams: Type.Array(AccountTeam),
  /** true while a restore or an outage holds back what goes out (specification section 10.8). */
  is_held: Type.Boolean(),
});
export type AccountOverview = Type.Static<typeof AccountOverview>;

export const UpdateAccountRequest = strictObject({ name: Type.Optional(personName) });
export const SetPasswordRequest = strictObject({
  password,
  current_password: Type.Optional(
    Type.String({
      maxLength: passwordFieldMaxCharacters,
      description:
        'The current password. Not needed for an account without one, or after a sign-in by a recent link.',
    }),
  ),
});

export const AccountSession = strictObject({
  id: publicIdOf('acs', 'The id of the session.'),
  current: Type.Boolean({ description: 'true for the session of this request.' }),
  method: stringEnum(signInMethods, { description: 'The method of the sign-in.' }),
  ip: Type.String({ description: 'The IP address of the sign-in.' }),
  user_agent: Type.String({ description: 'The User-Agent of the browser.' }),
  created_at: timestamp('When the session began.'),
  last_used_at: timestamp('When the session was last used, at most a minute behind.'),
});
export type AccountSession = Type.Static<typeof AccountSession>;
export const AccountSessionList = strictObject({
  sessions: Type.Array(AccountSession, { description: 'Last used first, 200 at most.' }),
});
export const SignedOut = strictObject({ signed_out: Type.Literal(true) });

const passkeyNameMaxCharacters = 100;

const passkeyName = Type.String({
  minLength: 1,
  maxLength: passkeyNameMaxCharacters,
  description: `The name that the person gives the passkey, 1 to ${passkeyNameMaxCharacters} characters.`,
  examples: ['Laptop'],
});

export const Passkey = strictObject({
  id: publicIdOf('pky', 'The id of the passkey.'),
  name: passkeyName,
  created_at: timestamp('When the passkey was added.'),
  last_used_at: nullable(timestamp('When the passkey was last used to sign in.')),
});
export type Passkey = Type.Static<typeof Passkey>;
export const PasskeyList = strictObject({ passkeys: Type.Array(Passkey, { description: 'Oldest first.' }) });

/**
 * The input of `navigator.credentials`. WebAuthn defines its fields and browsers add some, so the schema leaves them
 * open.
 */
export const PasskeyOptions = Type.Object({ challenge: Type.String() });

const base64Url = Type.String({ maxLength: 65_536, description: 'Bytes in base64url.' });
/** The credential as the browser's `toJSON` returns it. It may have fields that the server does not read. */
const credential = { id: base64Url, rawId: base64Url, type: Type.Literal('public-key') };

export const PasskeySignInRequest = strictObject({
  response: Type.Object({
    ...credential,
    response: Type.Object({
      clientDataJSON: base64Url,
      authenticatorData: base64Url,
      signature: base64Url,
      userHandle: Type.Optional(nullable(base64Url)),
    }),
  }),
});
export type PasskeyAssertion = Type.Static<typeof PasskeySignInRequest>['response'];

export const AddPasskeyRequest = strictObject({
  name: passkeyName,
  current_password: Type.Optional(
    Type.String({
      maxLength: passwordFieldMaxCharacters,
      description: 'The current password. It is needed if the sign-in is older than 15 minutes.',
    }),
  ),
  response: Type.Object({
    ...credential,
    response: Type.Object({
      clientDataJSON: base64Url,
      attestationObject: base64Url,
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { maxItems: 10 })),
    }),
  }),
});
export type PasskeyAttestation = Type.Static<typeof AddPasskeyRequest>['response'];

export const RenamePasskeyRequest = strictObject({ name: passkeyName });
