import { Type } from 'typebox';
import { planNames } from './plans.ts';
import { publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';

export const nameMaxCharacters = 100;

/** A team. */
export const Team = strictObject({
  id: publicIdOf('team', 'The id of the team.'),
  name: Type.String({ description: 'The name of the team.', examples: ['Example Ltd'] }),
  plan: stringEnum(planNames, { description: 'The plan, which decides most limits of the team.' }),
  monthly_message_limit: Type.Integer({
    description: 'Outbound messages that the team may send in a calendar month (UTC).',
    examples: [10_000],
  }),
  created_at: timestamp('When the team was created.'),
  test: Type.Optional(
    Type.Literal(true, {
      description: 'Present only if the request had a test key: the team is the test team of that key.',
    }),
  ),
});
export type Team = Type.Static<typeof Team>;

export const UpdateTeamRequest = strictObject({
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: nameMaxCharacters,
      description: `The new name, 1 to ${nameMaxCharacters} characters. Without it, the name stays.`,
      examples: ['Example Ltd'],
    }),
  ),
});
export type UpdateTeamRequest = Type.Static<typeof UpdateTeamRequest>;
