import { useQuery } from '@tanstack/react-query';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { NumberResource } from '#contract/number.ts';
import { useTeam } from '#web/shell/session.ts';
import { numbersQuery } from './number-queries.ts';

/** Names a number of the team: its label, or its digits if it has none. */
export const numberName = ({ label, phone_number }: Pick<NumberResource, 'label' | 'phone_number'>): string =>
  label || formatPhoneNumber(phone_number);

/** Returns a function that names the team's numbers by their digits. A deleted number is named by its digits. */
export function useNumberNames(): (phoneNumber: string) => string {
  const team = useTeam();
  const { data } = useQuery(numbersQuery(team.id));
  return (phoneNumber) =>
    numberName({
      label: data?.numbers.find(({ phone_number }) => phone_number === phoneNumber)?.label ?? '',
      phone_number: phoneNumber,
    });
}
