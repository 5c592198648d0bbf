import { expect, it, vi } from 'vitest';
import type { PersonsAnswer, ServerQuestion } from '../../host/tool.ts';
import { startDemo } from './offering.ts';

const FIELDS: ServerQuestion['fields'] = [
  {
    type: 'choice',
    name: 'seat',
    required: true,
    options: [
      { value: 'w', label: 'Window' },
      { value: 'a', label: 'Aisle' },
    ],
  },
  { type: 'integer', name: 'bags', minimum: 0, maximum: 3, default: 1, required: false },
  { type: 'boolean', name: 'meal', title: 'A meal?', required: true },
];

async function booked(answer: PersonsAnswer) {
  const { call } = await startDemo('mcp_demo_book');
  const elicit = vi.fn(async () => answer);
  const { data } = await call('mcp_demo_book', {}, { elicit });
  return { asked: elicit.mock.calls.map(([form]: unknown[]) => form), answered: JSON.parse(data) };
}

it('a server may ask the person of its call, and gets the values', async () => {
  const content = '{"seat":"w","meal":true}';
  const { asked, answered } = await booked({ decision: 'once', content });
  expect(asked).toEqual([{ message: 'How do you want to travel?', fields: FIELDS }]);
  expect(answered).toEqual({ action: 'accept', content: { seat: 'w', meal: true } });
});

it.each([
  ['a no', { decision: 'reject' }, 'decline'],
  ['silence', { decision: 'expired' }, 'cancel'],
  ['values that do not fit', { decision: 'once', content: '{"seat":"x","meal":true}' }, 'cancel'],
  ['values of no field', { decision: 'once', content: '{"seat":"w","meal":true,"x":1}' }, 'cancel'],
] as const)('it learns of %s', async (_, answer, action) => {
  expect((await booked(answer)).answered).toEqual({ action });
});

it('the time of a call stands still while the person thinks', async () => {
  const { call } = await startDemo('mcp_demo_book', { timeout: 300 });
  const elicit = async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return { decision: 'reject' } as const;
  };
  expect((await call('mcp_demo_book', {}, { elicit })).data).toContain('decline');
});

it('a server that works for two conversations may ask neither', async () => {
  const { call, folder } = await startDemo('mcp_demo_wait');
  const controller = new AbortController();
  const other = { signal: controller.signal, conversationId: 'conv_other' };
  const waiting = call('mcp_demo_wait', { file: `${folder}/calls` }, other);
  const elicit = vi.fn(async () => ({ decision: 'reject' }) as const);
  const { data } = await call('mcp_demo_book', {}, { elicit });
  expect(data).toContain('several conversations');
  expect(elicit).not.toHaveBeenCalled();
  controller.abort();
  await expect(waiting).rejects.toThrow();
});
