/** What a person has last chosen in this browser, by the name of the choice. */

/** The empty text where nothing was chosen. */
export function lastChoice(name: string): string {
  return localStorage.getItem(`last ${name}`) ?? '';
}

export function keepChoice(name: string, value: string): void {
  localStorage.setItem(`last ${name}`, value);
}
