import { describe, expect, it } from 'vitest';
import { type FormField, readField, readForm } from '../../../shared/wire/elicitation.ts';

const OPTIONS = [
  { value: 'w', label: 'Window' },
  { value: 'a', label: 'Aisle' },
];
const text: FormField = { type: 'text', name: 'name', required: true, minLength: 2 };
const email: FormField = { type: 'text', name: 'email', required: false, format: 'email' };
const bags: FormField = { type: 'integer', name: 'bags', required: false, maximum: 3, default: 1 };
const meal: FormField = { type: 'boolean', name: 'meal', required: false };
const seat: FormField = { type: 'choice', name: 'seat', required: true, options: OPTIONS };
const seats: FormField = {
  type: 'choices',
  name: 'seats',
  required: true,
  options: OPTIONS,
  minItems: 1,
};

describe('a field', () => {
  it.each<[FormField, typed: string, value: unknown]>([
    [text, ' Ada ', 'Ada'],
    [email, 'ada@example.com', 'ada@example.com'],
    [email, '', undefined],
    [bags, '3', 3],
    [bags, '', 1],
    [meal, 'Y', true],
    [meal, 'no', false],
    [seat, '2', 'a'],
    [seats, '1, 2', ['w', 'a']],
  ])('%o reads %j', (field, typed, value) => {
    expect(readField(field, typed)).toEqual({ value });
  });

  it.each<[FormField, typed: string]>([
    [text, ''],
    [text, 'x'],
    [email, 'nobody'],
    [bags, '4'],
    [bags, '1.5'],
    [bags, 'many'],
    [meal, 'perhaps'],
    [seat, ''],
    [seat, '3'],
    [seat, 'Aisle'],
    [seats, ''],
    [seats, '1 1'],
    [seats, '1 9'],
  ])('%o asks again after %j', (field, typed) => {
    expect(readField(field, typed)).toEqual({ problem: expect.stringMatching(/.+/) });
  });
});

describe('the values of a form', () => {
  const fields = [text, bags, seat];
  it('takes values where each fits its field', () => {
    const values = { name: 'Ada', seat: 'w' };
    expect(readForm(fields, JSON.stringify(values))).toEqual({ isValid: true, values });
  });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['nested', '{"name":"Ada","seat":{"x":1}}'],
    ['without a required one', '{"name":"Ada"}'],
    ['with one that no field has', '{"name":"Ada","seat":"w","x":1}'],
    ['beyond a bound', '{"name":"Ada","seat":"w","bags":9}'],
    ['of another type', '{"name":"Ada","seat":"w","bags":"1"}'],
    ['that are no option', '{"name":"Ada","seat":"x"}'],
  ])('refuses values: %s', (_, json) => {
    expect(readForm(fields, json)).toEqual({ isValid: false, problem: expect.any(String) });
  });
});
