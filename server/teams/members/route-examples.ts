import { exampleTime as at, exampleIds as ids } from '#contract/example-values.ts';
import type { Examples } from '#server/http/example.ts';

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

export const getTeamExamples: Examples = {
  pro: { summary: 'A team on the plan pro', status: 200, answer: team },
};

export const updateTeamExamples: Examples = {
  renamed: { summary: 'A new name', body: { name: 'Example Ltd' }, status: 200, answer: team },
};

export const listMembersExamples: Examples = {
  two: { summary: 'A team of two', status: 200, answer: { members: [owner, member] } },
};

export const changeRoleExamples: Examples = {
  member: {
    summary: 'Let the person send messages',
    ...ofMember,
    body: { role: 'member' },
    status: 200,
    answer: { ...member, role: 'member' },
  },
};

export const removeMemberExamples: Examples = {
  removed: {
    summary: 'Remove the person, and revoke the keys that they made',
    ...ofMember,
    query: { revoke_keys: true },
    status: 200,
    answer: { deleted: true },
  },
};
