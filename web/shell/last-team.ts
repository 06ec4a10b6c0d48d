const key = 'ownline.team';

export function lastTeamId(): string | null {
  return localStorage.getItem(key);
}

export function rememberTeam(teamId: string): void {
  localStorage.setItem(key, teamId);
}
