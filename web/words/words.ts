/** The words of the page in the browser's language. */
import * as en from './en.ts';
import { speak } from './thread.ts';

export const [language = 'en'] = navigator.languages.map((tag) => tag.slice(0, 2)).filter(isKnown);

/** English where the browser wants no language that is there. Another one is loaded only where it is wanted. */
const { frame, thread, asking } = language === 'de' ? await import('./de.ts') : en;

export const words = { ...frame, ...thread, ...asking };

speak(thread);
document.documentElement.lang = language;

function isKnown(code: string): boolean {
  return code === 'de' || code === 'en';
}
