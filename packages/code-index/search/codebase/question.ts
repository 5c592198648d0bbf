/** Turns a question in natural language into the concepts it asks about. */
import { CODEBASE_LIMITS } from './limits.ts';
import { identifiersOf, stem, wordsOf } from './terms.ts';

/** One thing that a question asks about: its possible stems, and the weight of each, up to 1. */
export type Concept = ReadonlyMap<string, number>;

/**
 * The concepts of a question, each once, in the question's order. Drops words that every question has, unless no other
 * word is left. Empty when the question has no word at all.
 */
export function conceptsOf(question: string): Concept[] {
  const words = wordsAsked(question);
  const specific = words.filter((word) => word.length > 1 && !STOP_WORDS.has(word));
  const kept = specific.length > 0 ? specific : words;
  const joined = joinedNeighbours(question);
  const concepts = new Map<string, Concept>();
  for (const word of kept) {
    const key = stem(word);
    if (!concepts.has(key)) concepts.set(key, conceptOf(word, joined.get(word) ?? []));
  }
  return [...concepts.values()].slice(0, CODEBASE_LIMITS.maxConcepts);
}

/** The words of a question. ETag and OAuth are one word each, although their capitals suggest two. */
function wordsAsked(question: string): string[] {
  return identifiersOf(question).flatMap((identifier) => {
    const words = wordsOf(identifier);
    return words[0]?.length === 1 ? [words.join('')] : words;
  });
}

/**
 * How much a stem stands for this concept: the concept's own weight, or less for a longer word with the same beginning.
 */
export function weightOf(concept: Concept, term: string): number {
  const exact = concept.get(term);
  if (exact !== undefined) return exact;
  let best = 0;
  for (const [variant, weight] of concept) {
    const begins = variant.length >= SHORTEST_BEGINNING && term.startsWith(variant);
    if (begins) best = Math.max(best, weight * BEGINNING_WEIGHT);
  }
  return best;
}

/** `sign` finds `signature`. A shorter beginning finds too much: `app` would find `append`. */
const SHORTEST_BEGINNING = 4;
const BEGINNING_WEIGHT = 0.4;
const SHORT_FORM_WEIGHT = 0.7;
const BASE_WEIGHT = 0.5;

function conceptOf(word: string, joined: readonly string[]): Concept {
  const variants = new Map<string, number>();
  const add = (variant: string, weight: number) => {
    variants.set(variant, Math.max(weight, variants.get(variant) ?? 0));
  };
  add(stem(word), 1);
  for (const both of joined) add(stem(both), 1);
  for (const form of FORMS.get(stem(word)) ?? []) add(form, SHORT_FORM_WEIGHT);
  const base = baseOf(stem(word));
  if (base !== null) add(base, BASE_WEIGHT);
  return variants;
}

/** The base of a word: `follow` for `follower`, `approve` for `approval`. Null where there is none. */
function baseOf(word: string): string | null {
  const base = word.replace(/(?:at?or|er|al|ment|anc|abl|(?<=.{5})at)$/, '');
  return base !== word && base.length >= SHORTEST_BEGINNING ? base : null;
}

/** Each word with the words it forms with its neighbours: `back-off time` gives `backoff` to both `back` and `off`. */
function joinedNeighbours(question: string): Map<string, string[]> {
  const words = wordsAsked(question);
  const joined = new Map<string, string[]>();
  words.slice(1).forEach((word, index) => {
    const before = words[index] ?? '';
    if (STOP_WORDS.has(before) || (STOP_WORDS.has(word) && !PARTICLES.has(word))) return;
    for (const part of [before, word]) {
      const known = joined.get(part) ?? [];
      if (known.length < MOST_JOINED) joined.set(part, [...known, before + word]);
    }
  });
  return joined;
}

/** For one word. Each joined word is one more thing to search for in every line. */
const MOST_JOINED = 4;

/** Stop words that join with the word before: log in, set up, time out. */
const PARTICLES: ReadonlySet<string> = new Set(['in', 'on', 'out', 'over', 'up', 'down']);

/** Words that programs shorten, with their usual short forms. Each word of a line is a form of the others. */
const SHORT_FORMS = `
  application app
  argument arg
  asynchronous async
  authentication authenticate auth
  authorization authorize auth
  button btn
  calculate calc
  command cmd
  configuration configure config cfg conf
  connection connect conn
  context ctx
  database db
  decrement dec
  delete remove
  dependency dep
  description desc
  destination dest dst
  development dev
  directory dir folder
  document doc
  documentation docs
  environment env
  error err
  execute exec run
  expression expr
  function func fn
  identifier id
  image img
  implementation impl
  index idx
  information info
  initialize init
  internationalization i18n
  length len
  library lib
  log logging logger
  maximum max
  message msg
  minimum min
  number num
  object obj
  package pkg
  parameter param
  password pwd passwd
  position pos
  previous prev
  production prod
  reference ref
  regular regex regexp
  repository repo
  request req
  response res resp
  source src
  specification spec
  statistics stats
  string str
  synchronous sync
  synchronize sync
  temporary temp tmp
  terminate kill
  utility util
  value val
  variable var
  window win
`;

const FORMS = formsOf(SHORT_FORMS);

function formsOf(table: string): ReadonlyMap<string, readonly string[]> {
  const forms = new Map<string, string[]>();
  for (const line of table.trim().split('\n')) {
    const stems = line.trim().split(' ').map(stem);
    for (const form of stems) {
      const others = stems.filter((other) => other !== form);
      forms.set(form, [...(forms.get(form) ?? []), ...others]);
    }
  }
  return forms;
}

/** Whether a word, in lower case, is one that every question has. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** Whether the concept's word is one that could stand in most questions. */
export function isWeak(concept: Concept): boolean {
  const [word = ''] = concept.keys();
  return WEAK_WORDS.has(word);
}

const WEAK_WORDS: ReadonlySet<string> = new Set(
  `again allow another answer app apply become begin behave behind build built call called carry case
  cause certain change changed choose code come complete create current decide developer different
  do end ensure every everything exist fact far few final finally first follow form full further
  general give given go good group grow guess handle hand happen hold home idea instead keep kept
  kind know known large last late later lead least leave left let level library lie long look lot
  made main make manage many matter mean moment move multiple name near need new next nothing number
  often old open order original own part pass past piece place plain point possible present prevent
  program put reach ready real really reason receive remain result return right run running say
  second see send set several short side simple single small special stand start stay still stop
  store sure take tell think time together top try turn type use user usual value various wait want
  way word world write wrong`
    .split(/\s+/)
    .map(stem),
);

/** Words of English and German questions about code that name no code. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about actually after all also am an and any anything are around as at be because been before being between both
  but by can code codebase could defined did do does doing done down during each exactly explain find for from get
  gets give given goes had happen happened happens has have having help here how i if implement implementation
  implemented in inside into is it its itself just located look lives make makes many me mean means more most much my
  need needs no of on once one only or other our over own please project related repo responsible same see should
  show so some someone something such take takes tell than that the their them then there these they thing things this
  those through to too under until up us use used uses using very want was way we were what whatever when where whether
  which while who whole whose why will with within without work works would you your out handled
  aber alle als am an auch auf aus bei bin bis da dann das dass dem den der des die dies diese dieser doch durch ein
  eine einem einen einer eines er es finde finden für gibt hat hier ich ihr im ist kann kein keine man mit nach nicht
  noch nur ob oder ohne passiert sich sie sind so um und uns unter vom von vor wann warum was welche welcher welches
  wenn wer werden wie wieso wird wir wo wofür woher zeig zeige zu zum zur über`.split(/\s+/),
);
