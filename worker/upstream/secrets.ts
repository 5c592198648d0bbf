/** The configured secrets, and text from outside without any part of them. Pure. */

/** Takes the place of what was removed. */
const REMOVED = '[removed]';

/** Letters and digits that a text must share with a secret to count as part of it; a secret with fewer counts as a whole. */
const PART_CHARS = 6;

/** A shorter one is no secret: it would take apart every sentence. */
const MIN_CHARS = 3;

/** The name and the password, and the values of the query, that an address of a server may hold. */
export function secretsInUrl(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const { username, password, searchParams } = new URL(address);
  const named = [username, password].map((text) => decodeURIComponent(text));
  return [...named, ...searchParams.values()].filter((text) => text !== '');
}

/**
 * The text without anything that could be a secret: every run of {@link PART_CHARS} letters and digits that stands in one
 * of these too, in either case, however it is separated or written (percent, base64, hexadecimal, JSON); and every
 * word that looks like a key of anybody, masked or not. A whole word goes where a part of it has to.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const marked = new Uint8Array(text.length);
  markShared(text, secrets, marked);
  return text
    .replace(/\S+/g, (word, at: number) => {
      const isMarked = marked.subarray(at, at + word.length).includes(1);
      return isMarked || looksSecret(word) ? REMOVED : word;
    })
    .replace(/\[removed\](?:\s+\[removed\])+/g, REMOVED);
}

/** Looks at letters and digits alone: what stands between them hides nothing. */
function markShared(text: string, secrets: readonly string[], marked: Uint8Array): void {
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

/** As it stands in the base64 of a longer text that has `shift` bytes (modulo 3) before it; the blurred edges are left out. */
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

/** Of anybody's: the key of a gateway's own provider is not in our settings. */
function looksSecret(word: string): boolean {
  return SECRET_LOOKS.some((look) => look.test(word));
}

const SECRET_LOOKS: readonly RegExp[] = [
  /[*•]{2,}|[xX]{4,}/, // Masked.
  /[a-z0-9]\.{2}[a-z0-9]|(?:\.{3}|…)[a-z0-9]/i, // Cut in the middle.
  /(?<![a-z0-9])(?:sk|pk|rk|gsk|xai|gh[a-z]|glpat|hf|r8|nvapi|pplx|csk|fw|key)[-_]/i,
  /(?<![a-z0-9])(?:AKIA|AIza|ya29|eyJ)/,
  /(?=[a-z0-9]*[a-z])(?=[a-z0-9]*[0-9])[a-z0-9]{12,}/i,
  /[a-z0-9+/_=-]{40,}|[a-z0-9]{24,}/i,
];
