import { exampleTime as at, exampleIds as ids } from '#contract/example-values.ts';
import { type Examples, success } from '#server/http/example.ts';

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

export const getTeamExamples: Examples = { pro: success('A team on the plan pro', team) };

export const updateTeamExamples: Examples = {
  renamed: success('A new name', team, { body: { name: 'Example Ltd' } }),
};

export const listMembersExamples: Examples = { two: success('A team of two', { members: [owner, member] }) };

export const changeRoleExamples: Examples = {
  member: success(
    'Let the person send messages',
    { ...member, role: 'member' },
    { ...ofMember, body: { role: 'member' } },
  ),
};

export const removeMemberExamples: Examples = {
  removed: success(
    'Remove the person, and revoke the keys that they made',
    { deleted: true },
    { ...ofMember, query: { revoke_keys: true } },
  ),
};
