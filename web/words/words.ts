/** The words of the page in the browser's language. */
import { en } from './en.ts';

const [language = 'en'] = navigator.languages.map((tag) => tag.slice(0, 2)).filter(isKnown);

/** English where the browser wants no language that is there. Another one is loaded only where it is wanted. */
export const words = language === 'de' ? (await import('./de.ts')).de : en;

document.documentElement.lang = language;

function isKnown(code: string): boolean {
  return code === 'de' || code === 'en';
}

/** A time of today as hours and minutes, another one with its date. */
export function shortTime(iso: string): string {
  const time = new Date(iso);
  const isToday = time.toDateString() === new Date().toDateString();
  return time.toLocaleString([], isToday ? { timeStyle: 'short' } : { dateStyle: 'medium' });
}

/** 1234567 as `1.2M`. */
export function shortNumber(count: number): string {
  return Intl.NumberFormat([], { notation: 'compact', maximumFractionDigits: 1 }).format(count);
}
