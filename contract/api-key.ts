import { Type } from 'typebox';
import { type Grant, permissions } from './permissions.ts';
import { nullable, publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';
import { nameMaxCharacters } from './team.ts';

const grants: readonly Grant[] = [...permissions, '*'];

/** An API key without its secret text (specification section 5.1). */
export const ApiKey = strictObject({
  id: publicIdOf('key', 'The id of the key.'),
  name: Type.String({ description: 'The purpose of the key.' }),
  permissions: Type.Array(stringEnum(grants)),
  created_by: nullable(
    publicIdOf('usr', 'The member who created it, even after they left the team; null: the operator.'),
  ),
  created_at: timestamp('When the key was created.'),
  answers_for_team: Type.Optional(
    Type.Literal(true, {
      description: 'Present only if a send of the key answers a conversation, as a person’s reply does.',
    }),
  ),
  last_used_at: nullable(timestamp('When the key was last used, some seconds behind.')),
  test: Type.Optional(Type.Literal(true, { description: 'Present only for a test key.' })),
});
export type ApiKey = Type.Static<typeof ApiKey>;

export const ApiKeyList = strictObject({ keys: Type.Array(ApiKey, { description: 'Newest first.' }) });

/** The answer to the creation of an API key. No other answer shows the key's text. */
export const MadeApiKey = strictObject({
  ...ApiKey.properties,
  key: Type.String({ description: 'The key itself: own_live_…, or own_test_… for a test key.' }),
});
export type MadeApiKey = Type.Static<typeof MadeApiKey>;

export const CreateKeyRequest = strictObject({
  name: Type.String({ minLength: 1, maxLength: nameMaxCharacters, description: 'The purpose of the key.' }),
  permissions: Type.Array(stringEnum(grants), {
    minItems: 1,
    maxItems: 50,
    description: 'Only permissions that the creator has.',
  }),
  answers_for_team: Type.Optional(
    Type.Boolean({
      description:
        'true: a conversation to which the key sends no longer waits for the team, as after a person’s reply.',
    }),
  ),
  test: Type.Optional(
    Type.Boolean({
      description: 'true: a test key, which sends through a simulated number and sees test data only.',
    }),
  ),
});
export type CreateKeyRequest = Type.Static<typeof CreateKeyRequest>;
