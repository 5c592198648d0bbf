import { expect, test } from 'vitest';
import { maskOf, maskSecrets } from '../../../machine/secrets/filter.ts';
import { AROUND, expectSameAtEveryCut, UNSEEN } from './cuts.ts';
import { allTokens, privateKeys, SHOWN } from './samples.ts';

test.each(allTokens())('masks a $kind at every cut of a text', ({ secret, shown }) => {
  for (const [before, after] of AROUND) {
    const text = `ok ${before}${shown}${secret}${after} end sk-or-x`;
    expectSameAtEveryCut(text);
  }
});

test.each(allTokens())('masks a $kind whatever stands unseen within', ({ kind, shown, secret }) => {
  UNSEEN.forEach((unseen, nth) => {
    for (let at = 1 + (nth % 3); at < secret.length; at += nth === 0 ? 1 : 7) {
      const text = `a ${shown}${secret.slice(0, at)}${unseen}${secret.slice(at)} b`;
      expect(maskSecrets(text)).toBe(`a ${shown}${maskOf(kind)}${unseen} b`);
    }
    const half = secret.length >> 1;
    const split = `${secret.slice(0, half)}${unseen}${secret.slice(half)}`;
    if (nth < 3) expectSameAtEveryCut(`ok ${shown}${unseen}${split}${unseen}word`);
  });
});

test.each(privateKeys())(
  'masks a private key at every cut of a text, however it is shown: %s',
  (_, key) => {
    for (const [, show] of SHOWN) expectSameAtEveryCut(`before\n${show(key)}after\n`);
  },
);
