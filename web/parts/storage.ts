/** A browser can refuse its storage, and the storage can be full: the page works all the same, and keeps nothing then. */

/** Undefined if the browser's database refuses the work. */
export async function attempt<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

/** The empty text if nothing is kept under the name. */
export function readText(name: string): string {
  try {
    return localStorage.getItem(name) ?? '';
  } catch {
    return '';
  }
}

/** An empty text removes what is kept. */
export function keepText(name: string, text: string): void {
  try {
    localStorage.removeItem(name);
    if (text !== '') localStorage.setItem(name, text);
  } catch {
    // What a person chose or wrote counts until the page is closed.
  }
}

/** The names under which texts are kept, the oldest first. */
export function keptNames(): readonly string[] {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}

export function forgetTexts(): void {
  try {
    localStorage.clear();
  } catch {
    // There is nothing.
  }
}
