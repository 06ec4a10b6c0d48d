import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import type { UpdatedNumber, UpdateNumberRequest } from '#contract/number.ts';
import { useTeam } from '#web/shell/session.ts';
import { rereadNumbers, updateNumber } from './number-queries.ts';

/** Changes a number. The mutation is pending until the number was read again. */
export function useUpdateNumber(id: string): UseMutationResult<UpdatedNumber, Error, UpdateNumberRequest> {
  const team = useTeam();
  return useMutation({
    mutationFn: async (changed: UpdateNumberRequest) => {
      const updated = await updateNumber(team.id, id, changed);
      await rereadNumbers(team.id);
      return updated;
    },
  });
}
