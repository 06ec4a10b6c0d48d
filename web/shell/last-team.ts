const key = 'ownline.team';

/** The team that was open last in this browser. */
export function lastTeamId(): string | null {
  return localStorage.getItem(key);
}

export function rememberTeam(teamId: string): void {
  localStorage.setItem(key, teamId);
}
