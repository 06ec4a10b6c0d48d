import { markRead, receive, sendNextByShortcut } from '#test/support/dashboard/conversations.ts';
import { join, newMember, newPerson, type TeamMember } from '#test/support/people/people.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** A fictional practice with two numbers and messages of a morning, for screenshots. */
export interface ExamplePractice {
  readonly owner: TeamMember;
  readonly frontDesk: ConnectedNumber;
}

const minuteMs = 60_000;

export async function givenExamplePractice(service: TestService): Promise<ExamplePractice> {
  const team = await service.newTeam({ plan: 'pro' });
  await team.api.put('/v1/team', { name: 'Example Dental' });
  const ada = await newPerson(service, { email: 'ada@dental.example.com', name: 'Ada Example' });
  const owner = await join(service, team, ada, 'owner');
  await newMember(service, team, 'member', { email: 'grace@dental.example.com', name: 'Grace Example' });
  const frontDesk = await connectNumber(service, team, '+14155550100');
  const recall = await connectNumber(service, team, '+14155550101');
  await team.api.put(`/v1/numbers/${frontDesk.numberId}`, { label: 'Front desk' });
  await team.api.put(`/v1/numbers/${recall.numberId}`, { label: 'Recall' });

  const pass = (minutes: number) => service.clock.advance(minutes * minuteMs);
  // Replies arrive while the conversation is open, so they count as read.
  const received = new Map<string, string>();
  const hear = async (number: ConnectedNumber, from: string, text: string) => {
    received.set(from, await receive(number, from, text));
  };
  const send = async (number: ConnectedNumber, to: string, content: string) => {
    const last = received.get(to);
    if (last !== undefined) await markRead(owner, number.phoneNumber, to, last);
    await owner.post(owner.in('/messages/send'), { from: number.phoneNumber, to, content });
    await sendNextByShortcut(number);
  };
  await send(
    recall,
    '+14155550131',
    'It has been a year since your last check-up. Would you like an appointment?',
  );
  pass(26);
  await hear(recall, '+14155550131', 'Yes please, any morning next week');
  pass(9);
  await send(recall, '+14155550131', 'Wednesday at 9:20?');
  pass(14);
  await hear(frontDesk, '+14155550142', 'Hi! Can I move my appointment from Tuesday to Friday?');
  pass(2);
  await send(frontDesk, '+14155550142', 'Of course. Friday at 10:30 or at 2:15?');
  pass(1);
  await hear(frontDesk, '+14155550142', '10:30 is perfect');
  pass(1);
  await send(frontDesk, '+14155550142', 'Done: Friday, November 27, 10:30. See you then!');
  pass(6);
  await hear(frontDesk, '+14155550157', 'Is parking free behind the house?');
  pass(3);
  await send(frontDesk, '+14155550164', 'Your retainer has arrived. You can pick it up any day until six.');
  pass(4);
  await hear(recall, '+14155550131', 'Wednesday 9:20 works, thank you');
  // Both phones poll, so that they are online.
  for (const { wire } of [frontDesk, recall]) await wire.poll();
  return { owner, frontDesk };
}
