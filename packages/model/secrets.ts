/** Removes every part of the configured secrets from text that comes from outside. Pure. */

/** Replaces each removed word. */
const REMOVED = '[removed]';

/** Letters and digits in a row that count as part of a secret. A secret with fewer is matched as a whole. */
const PART_CHARS = 6;

/** A shorter secret is ignored: it would match in almost every sentence. */
const MIN_CHARS = 3;

/** The user name, the password and the query values in a server's address. */
export function secretsInUrl(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const { username, password, searchParams } = new URL(address);
  const named = [username, password].map((text) => decodeURIComponent(text));
  return [...named, ...searchParams.values()].filter((text) => text !== '');
}

/**
 * The text without words that could hold part of a secret. Removes each word that shares a run of {@link PART_CHARS}
 * letters and digits with one of `secrets`, regardless of case, separators and encoding (percent, base64, hexadecimal,
 * JSON escapes). Also removes each word that looks like any key, masked or not.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const marked = marksOfShared(text, secrets);
  return text
    .replace(/\S+/g, (word, at: number) => {
      const isMarked = marked.subarray(at, at + word.length).includes(1);
      return isMarked || SECRET_LOOKS.some((look) => look.test(word)) ? REMOVED : word;
    })
    .replace(/\[removed\](?:\s+\[removed\])+/g, REMOVED);
}

/** 1 for each character of a shared run. Compares only letters and digits, so that separators hide nothing. */
function marksOfShared(text: string, secrets: readonly string[]): Uint8Array {
  const marked = new Uint8Array(text.length);
  const places = Array.from(text.matchAll(/[a-z0-9]/gi), ({ index }) => index);
  const plain = places
    .map((at) => text.charAt(at))
    .join('')
    .toLowerCase();
  for (const part of new Set(secrets.flatMap(formsOf).flatMap(partsOf))) {
    for (let at = plain.indexOf(part); at >= 0; at = plain.indexOf(part, at + 1)) {
      for (const place of places.slice(at, at + part.length)) marked[place] = 1;
    }
  }
  return marked;
}

/** The ways in which a secret can stand in a text, as its letters and digits in lower case. */
function formsOf(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  const forms = [
    secret,
    encodeURIComponent(secret),
    hex.join(''),
    Array.from(secret, (char) => `u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    ...[0, 1, 2].map((shift) => base64Of(bytes, shift)),
  ];
  return forms.map((form) => form.replace(/[^a-z0-9]/gi, '').toLowerCase());
}

/** The base64 of the secret within a longer text, `shift` bytes (modulo 3) in, without the edge characters. */
function base64Of(bytes: Uint8Array, shift: number): string {
  const padded = String.fromCharCode(...new Uint8Array(shift), ...bytes);
  const first = shift === 0 ? 0 : shift + 1;
  return btoa(padded).replace(/=+$/, '').slice(first, -1);
}

function partsOf(form: string): string[] {
  if (form.length < MIN_CHARS) return [];
  if (form.length <= PART_CHARS) return [form];
  return Array.from({ length: form.length - PART_CHARS + 1 }, (_, at) =>
    form.slice(at, at + PART_CHARS),
  );
}

/** How a key looks. A gateway may quote its own provider's key, which is not in our settings. */
const SECRET_LOOKS: readonly RegExp[] = [
  /[*•]{2,}|[xX]{4,}/, // Masked.
  /[a-z0-9]\.{2}[a-z0-9]|(?:\.{3}|…)[a-z0-9]/i, // Cut in the middle.
  /(?<![a-z0-9])(?:sk|pk|rk|gsk|xai|gh[a-z]|glpat|hf|r8|nvapi|pplx|csk|fw|key)[-_]/i,
  /(?<![a-z0-9])(?:AKIA|AIza|ya29|eyJ)/,
  /(?=[a-z0-9]*[a-z])(?=[a-z0-9]*[0-9])[a-z0-9]{12,}/i,
  /[a-z0-9+/_=-]{40,}|[a-z0-9]{24,}/i,
];
