/** The place that the page shows, as the fragment of its URL: no server sees it, and every server can serve the page. */
import { useLayoutEffect, useReducer } from 'preact/hooks';

export type PagePlace =
  /** On a phone the list fills the screen; beside it there is room for a new conversation elsewhere. */
  | { readonly at: 'list' }
  | { readonly at: 'new' }
  | { readonly at: 'inbox' }
  | { readonly at: 'settings' }
  | { readonly at: 'conversation'; readonly id: string };

/** The list for a fragment that names nothing. */
export function placeOf(fragment: string): PagePlace {
  const [, at, id] = /^#\/(new|inbox|settings|c\/(conv_[\w-]+))$/.exec(fragment) ?? [];
  if (id !== undefined) return { at: 'conversation', id };
  return at === 'new' || at === 'inbox' || at === 'settings' ? { at } : { at: 'list' };
}

export function linkTo(place: PagePlace): string {
  if (place.at === 'conversation') return `#/c/${place.id}`;
  return place.at === 'list' ? '#/' : `#/${place.at}`;
}

export function go(place: PagePlace): void {
  location.hash = linkTo(place);
}

/** The place now; renders again when it changes. */
export function usePlace(): PagePlace {
  const [, render] = useReducer((count: number) => count + 1, 0);
  // Before anything else can happen: a move between the first render and a later effect would be lost.
  useLayoutEffect(() => {
    const moved = () => render(undefined);
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return placeOf(location.hash);
}

/** Secrets that a link brings behind `#`: they leave the URL, and the browser's history, at once. */
export function takeSecrets(): Secrets {
  const found = secretsHere();
  if (found.length > 0) history.replaceState(null, '', location.pathname);
  return Object.fromEntries(found);
}

/** Begins anew with the secrets of a link that was opened in this tab: only the fragment has changed by it. */
export function reloadForSecrets(): void {
  addEventListener('hashchange', () => {
    if (secretsHere().length > 0) location.reload();
  });
}

function secretsHere() {
  const given = new URLSearchParams(location.hash.slice(1));
  return NAMES.flatMap((name) => {
    const secret = given.get(name);
    return secret ? [[name, secret] as const] : [];
  });
}

const NAMES = ['join', 'enrol', 'passkey'] as const;

/** `join` signs in; the others let this browser approve, by its own key or by a passkey. */
export type Secrets = { readonly [name in (typeof NAMES)[number]]?: string };
