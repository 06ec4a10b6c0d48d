import { exampleTime as at, exampleIds as ids } from '#contract/example-values.ts';
import {
  type Examples,
  invalidExample,
  notFoundExample,
  unknownParameterExample,
} from '#server/platform/http/example.ts';

const team = {
  id: ids.team,
  name: 'Example Ltd',
  plan: 'pro',
  monthly_message_limit: 10_000,
  created_at: at('08:00:00'),
};

const owner = {
  id: ids.owner,
  email: 'ada@example.com',
  name: 'Ada Example',
  role: 'owner',
  created_at: at('08:05:00'),
};
const member = {
  id: ids.member,
  email: 'grace@example.com',
  name: 'Grace Example',
  role: 'viewer',
  created_at: at('08:30:00'),
};
const ofMember = { params: { id: ids.member } };
const ofOwner = { params: { id: ids.owner } };
const unknown = { params: { id: ids.unknown('usr') } };

export const getTeamExamples: Examples = {
  pro: { summary: 'A team on the plan pro', status: 200, answer: team },
  unknown_parameter: unknownParameterExample(),
};

export const updateTeamExamples: Examples = {
  renamed: { summary: 'A new name', body: { name: 'Example Ltd' }, status: 200, answer: team },
  no_name: invalidExample('An empty name', 'name', 'name must have at least 1 character.', {
    body: { name: '' },
  }),
};

export const listMembersExamples: Examples = {
  two: { summary: 'A team of two', status: 200, answer: { members: [owner, member] } },
  unknown_parameter: unknownParameterExample(),
};

export const changeRoleExamples: Examples = {
  member: {
    summary: 'Let the person send messages',
    ...ofMember,
    body: { role: 'member' },
    status: 200,
    answer: { ...member, role: 'member' },
  },
  unknown_role: invalidExample(
    'A role that can’t be granted here',
    'role',
    'role must be one of: admin, member, viewer.',
    { ...ofMember, body: { role: 'owner' } },
  ),
  of_an_owner: invalidExample(
    'The person is an owner',
    'id',
    'This member is an owner. Ask an owner to change their role in the dashboard.',
    { ...ofOwner, body: { role: 'member' } },
  ),
  unknown: notFoundExample('member', { ...unknown, body: { role: 'member' } }),
};

export const removeMemberExamples: Examples = {
  removed: {
    summary: 'Remove the person, and revoke the keys that they made',
    ...ofMember,
    query: { revoke_keys: true },
    status: 200,
    answer: { deleted: true },
  },
  an_owner: invalidExample(
    'The person is an owner',
    'id',
    'This member is an owner, and owners can’t be removed. First ask an owner to change their role in the dashboard.',
    ofOwner,
  ),
  unknown: notFoundExample('member', unknown),
};
