export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'ownline.theme';
const isDarkSystem = matchMedia('(prefers-color-scheme: dark)');

/** The chosen theme of this browser. The page applies it before the first paint (server/http/theme.js). */
export function chosenTheme(): Theme {
  return themes.find((theme) => theme === localStorage.getItem(key)) ?? 'system';
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(key, theme);
  apply();
}

function apply(): void {
  const theme = chosenTheme();
  const isDark = theme === 'dark' || (theme === 'system' && isDarkSystem.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}

isDarkSystem.addEventListener('change', apply);
