import { expect, it } from 'vitest';
import { formatReport, hasFaults } from '../../bench/faults/report.ts';
import { planRound, type RoundResult, SLOW_MS } from '../../bench/faults/round.ts';
import { Sight } from '../../bench/faults/sight.ts';
import { Random } from '../../bench/fuzz/random.ts';
import { newResponse } from '../../shared/wire/fold.ts';

const START = {
  id: 'chat_1',
  conversationId: 'conv_1',
  model: 'm',
  mode: 'agent',
  created: '2026-01-01T00:00:00.000Z',
} as const;
const DOCUMENT = { id: 'doc_001', type: 'text', sequence: 1 } as const;

it('plans the same rounds for the same seed, and others for another', () => {
  const [first, second, other] = [7, 7, 8].map((seed) => {
    const random = new Random(seed);
    return Array.from({ length: 20 }, (_, round) => planRound(round, random));
  });
  expect(first).toEqual(second);
  expect(first).not.toEqual(other);
});

it('finds a document that was shown whole and then had other words', () => {
  const sight = sightOf('Shown.');
  expect(sight.differencesTo(stored('Shown.'))).toEqual([]);
  expect(sight.differencesTo(stored('Other.'))).toContain(
    'doc_001 was shown whole with other words',
  );
});

it('does not mind a document that was taken back', () => {
  const sight = sightOf('Shown.');
  sight.see({ type: 'document_end', documentId: 'doc_001', metadata: { interrupted: true } });
  expect(sight.differencesTo({ ...stored(''), documents: [] })).toEqual([]);
});

it('lists what a kill would hit', () => {
  const sight = new Sight();
  expect(sight.underWay).toBe('idle');
  sight.see({ type: 'response_start', response: START });
  expect(sight.underWay).toBe('stream');
  sight.see({ type: 'document_start', document: { ...DOCUMENT, type: 'terminal_command' } });
  expect(sight.underWay).toBe('call');
  const proposal = { kind: 'call', tool: 'run_terminal_cmd', arguments: {} } as const;
  const asked = { callId: 'call_1', bridgeId: 'b', nonce: 'n', proposal, reason: 'rule' };
  sight.see({ type: 'approval_request', documentId: 'doc_001', ...asked });
  expect(sight.underWay).toBe('approval');
});

it('counts faults by kind, and times by what was hit', () => {
  const good: RoundResult = {
    targets: ['workerd'],
    hit: 'stream',
    recoveryMs: 200,
    tookMs: 900,
    faults: [],
  };
  const bad: RoundResult = {
    targets: ['bridge'],
    hit: 'call',
    recoveryMs: null,
    tookMs: SLOW_MS + 1,
    faults: [{ fault: 'doubled', detail: 'ran 2 times' }],
  };
  const report = formatReport([good, bad]);
  expect(report).toMatch(/a live stream +1 +200 +200 +200/);
  expect(report).toMatch(/doubled +1/);
  expect(report).toMatch(/lost +0/);
  expect(report).toMatch(/slow .* 1 /);
  expect([hasFaults([good]), hasFaults([good, bad])]).toEqual([false, true]);
});

function sightOf(content: string): Sight {
  const sight = new Sight();
  sight.see({ type: 'response_start', response: START });
  sight.see({ type: 'document_start', document: DOCUMENT });
  sight.see({ type: 'content_delta', documentId: 'doc_001', delta: content });
  sight.see({ type: 'document_end', documentId: 'doc_001', finalContent: content });
  return sight;
}

function stored(content: string) {
  return { ...newResponse(START), documents: [{ ...DOCUMENT, content, metadata: {} }] };
}
