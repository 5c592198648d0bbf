/** The words of a thread: in the language of the page, or of the page of an app. */
import { thread } from './en.ts';

export let words = thread;

/** To be called before anything is shown. */
export function speak(language: typeof thread): void {
  words = language;
}
