import { describe, expect, it } from 'vitest';
import { CODEBASE_LIMITS } from '../../../search/codebase/limits.ts';
import { conceptsOf, weightOf } from '../../../search/codebase/question.ts';

const keysOf = (question: string) => conceptsOf(question).map((concept) => [...concept.keys()][0]);

describe('conceptsOf', () => {
  it.each([
    ['Where is the Flask app initialized?', ['flask', 'app', 'initializ']],
    ['How does parseHTTPHeader work?', ['pars', 'http', 'header']],
    ['Wo wird die Verbindung geprüft?', ['verbindung', 'geprüft']],
    ['tests, testing and the test', ['test']],
    ['Where are ETags sent?', ['etag', 'sent']],
    ['where is it', ['wher', 'is', 'it']],
    ['', []],
    ['?! ...', []],
  ])('finds what %j asks about', (question, keys) => {
    expect(keysOf(question)).toEqual(keys);
  });

  it('has a bound', () => {
    const pasted = Array.from({ length: 500 }, (_, index) => `word${index}`).join(' ');
    expect(conceptsOf(pasted)).toHaveLength(CODEBASE_LIMITS.maxConcepts);
  });
});

describe('weightOf', () => {
  it.each([
    ['the back-off', 'backoff', 1],
    ['the file name', 'filenam', 1],
    ['log in', 'login', 1],
    ['a configuration', 'config', 0.7],
    ['an approval', 'approv', 0.5],
    ['sign it', 'signatur', 0.4],
    ['the app', 'append', 0],
    ['the app', 'orang', 0],
  ])('%j: %s counts %d', (question, term, weight) => {
    const weights = conceptsOf(question).map((concept) => weightOf(concept, term));
    expect(Math.max(...weights)).toBeCloseTo(weight);
  });
});
