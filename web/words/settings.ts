/** The words of the settings and of signing in, which are loaded with them, and all others. */
import * as en from './settings-en.ts';
import { language, words as others } from './words.ts';

const { settings } = language === 'de' ? await import('./settings-de.ts') : en;

export const words = { ...others, ...settings };
