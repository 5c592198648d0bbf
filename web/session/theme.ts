/** The colours that the person has chosen for this browser. */
import { keepText, readText } from '../parts/storage.ts';

const KEY = 'theme';

/** `system`, or the name of a theme. */
export function chosenTheme(): string {
  return readText(KEY) || 'system';
}

/** Shows the page in these colours. Call it once at the start. */
export function applyTheme(theme = chosenTheme()): void {
  document.documentElement.dataset['theme'] = theme;
}

export function chooseTheme(theme: string): void {
  keepText(KEY, theme);
  applyTheme(theme);
}
