import { describe, expect, it } from 'vitest';
import { identifiersOf, stem, termsOf, wordsOf } from '../../../search/codebase/terms.ts';

describe('wordsOf', () => {
  it.each([
    ['parseHTTPHeader_v2', ['parse', 'http', 'header', 'v', '2']],
    ['back_off', ['back', 'off']],
    ['MAX_RETRIES', ['max', 'retries']],
    ['sha256', ['sha', '256']],
    ['größeÄndern', ['größe', 'ändern']],
    ['__init__', ['init']],
    ['___', []],
    ['検索', ['検索']],
  ])('takes %s apart', (identifier, words) => {
    expect(wordsOf(identifier)).toEqual(words);
  });
});

describe('termsOf', () => {
  it('lets the spellings of one name meet', () => {
    for (const spelling of ['backOff', 'back_off', 'BackOff', 'BACK_OFF']) {
      expect(termsOf(spelling)).toContain('backoff');
    }
    expect(termsOf('backoff')).toEqual(['backoff']);
  });

  it('leaves a lone word alone', () => {
    expect(identifiersOf('a lone (word).').flatMap(termsOf)).toEqual(['a', 'lon', 'word']);
  });
});

describe('stem', () => {
  it.each([
    ['retry', 'retries', 'retried', 'retrying'],
    ['cache', 'caches', 'cached', 'caching'],
    ['run', 'runs', 'running'],
    ['initialize', 'initialized', 'initializing', 'initialization', 'initialise', 'initialised'],
    ['connect', 'connects', 'connected', 'connection', 'connections'],
    ['validate', 'validates', 'validation', 'validated'],
    ['box', 'boxes'],
    ['class', 'classes'],
    ['call', 'calls', 'calling', 'called'],
    ['key', 'keys'],
  ])('is the same for %s, %s and its like', (...forms) => {
    expect(new Set(forms.map(stem)).size).toBe(1);
  });

  it.each([
    ['string', 'str'],
    ['status', 'stat'],
    ['feed', 'fe'],
    ['signal', 'sign'],
    ['session', 'sess'],
    ['this', 'thi'],
  ])('does not take %s for a form of %s', (word, other) => {
    expect(stem(word)).not.toBe(stem(other));
  });

  it('is a beginning of its word, or nearly', () => {
    for (const word of ['policies', 'hopping', 'organised', 'tried', 'typing', 'see', 'ids']) {
      expect(word.replace('is', 'iz').startsWith(stem(word))).toBe(true);
    }
  });
});
