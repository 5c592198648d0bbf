import { expect, it } from 'vitest';
import { answersIn, formOf, formOfQuestions } from '../../../cli/acp/forms.ts';

it('makes a form of the fields that an MCP server asks for', () => {
  expect(
    formOf([
      { type: 'text', name: 'mail', title: 'Mail', required: true, format: 'email', maxLength: 9 },
      { type: 'integer', name: 'count', required: false, minimum: 1, default: 2 },
      { type: 'boolean', name: 'sure', required: false, default: true },
      { type: 'choice', name: 'size', required: false, options: [{ value: 's', label: 'Small' }] },
      {
        type: 'choices',
        name: 'tags',
        description: 'All that fit',
        required: true,
        options: [{ value: 'a', label: 'A' }],
        maxItems: 1,
      },
    ]),
  ).toEqual({
    type: 'object',
    properties: {
      mail: { type: 'string', title: 'Mail', format: 'email', maxLength: 9 },
      count: { type: 'integer', title: 'count', minimum: 1, default: 2 },
      sure: { type: 'boolean', title: 'sure', default: true },
      size: { type: 'string', title: 'size', oneOf: [{ const: 's', title: 'Small' }] },
      tags: {
        type: 'array',
        title: 'tags',
        description: 'All that fit',
        maxItems: 1,
        items: { anyOf: [{ const: 'a', title: 'A' }] },
      },
    },
    required: ['mail', 'tags'],
  });
});

const questions = [
  { id: '__proto__', text: 'One?', options: [{ id: 'x', label: 'X' }] },
  { id: 'two', text: 'Two?', options: [{ id: 'y', label: 'Y' }], allowMultiple: true },
  { id: 'three', text: 'Three?', options: [] },
];

it('asks each question with its options and a field for own words', () => {
  expect(Object.entries(formOfQuestions(questions).properties ?? {})).toEqual([
    ['question-1', { type: 'string', title: 'One?', oneOf: [{ const: 'x', title: 'X' }] }],
    ['question-1-words', { type: 'string', title: 'Or in your own words' }],
    [
      'question-2',
      { type: 'array', title: 'Two?', items: { anyOf: [{ const: 'y', title: 'Y' }] } },
    ],
    ['question-2-words', { type: 'string', title: 'Or in your own words' }],
    ['question-3-words', { type: 'string', title: 'Three?' }],
  ]);
});

it('reads the answers, and skips what is empty', () => {
  const content = { 'question-1': 'x', 'question-2': ['y'], 'question-2-words': 'more' };
  expect(answersIn(questions, content)).toEqual([
    { questionId: '__proto__', optionIds: ['x'] },
    { questionId: 'two', optionIds: ['y'], text: 'more' },
  ]);
});
