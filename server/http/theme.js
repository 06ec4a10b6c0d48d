// Applies the chosen theme before the first paint, so that no page flashes in the other theme. web/shell/theme.ts stores
// the choice.
const chosen = localStorage.getItem('ownline.theme');
const isDark =
  chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
