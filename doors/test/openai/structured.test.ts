/** Answers as JSON, checked by the app's schema, while the run uses its tools before. */
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses';
import { expect, it } from 'vitest';
import { call, scriptModel } from '../../../test/worker/api.ts';
import { callV1, complete, completed, openAiError, streamed } from './completing.ts';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, people: { type: 'integer' } },
  required: ['city', 'people'],
  additionalProperties: false,
};
const response_format = {
  type: 'json_schema',
  json_schema: { name: 'place', strict: true, schema },
};
const GOOD = '{"city":"Oslo","people":700000}';

/** A model that writes a list of todos, says something beside, and then gives these answers. */
function script(...answers: readonly string[]) {
  let turn = 0;
  return scriptModel(() => {
    if (turn++ === 0) {
      const todos = [{ id: 'a', content: 'look', status: 'pending' }];
      return {
        text: 'I look.',
        calls: [{ name: 'todo_write', arguments: { merge: false, todos } }],
      };
    }
    return { text: answers[Math.min(turn - 2, answers.length - 1)] ?? '' };
  });
}

it.each([
  ['JSON alone', GOOD],
  ['JSON in a fence, with words around', `Here it is:\n\`\`\`json\n${GOOD}\n\`\`\`\nDone.`],
])('the answer is the JSON where the model gives %s', async (_, text) => {
  const requests = script(text);
  const { choices } = await completed({ response_format });
  expect(choices[0]?.message.content).toBe(GOOD);
  expect(String(requests[0]?.messages[0]?.content)).toContain('"additionalProperties":false');
  expect(requests).toHaveLength(2);
});

it('an answer that does not fit is asked for once more, and followers see only the JSON', async () => {
  const requests = script('{"city":"Oslo"}', GOOD);
  const stream = await (await streamed({ response_format })).toEnd();
  expect([stream.content, stream.finishReason]).toEqual([GOOD, 'stop']);
  expect(String(requests[2]?.messages.at(-1)?.content)).toContain('does not have the form');
  expect(requests).toHaveLength(3);
});

it('an answer that never fits is an error that says why', async () => {
  const requests = script('no JSON', '[]');
  const refused = await openAiError(await complete({ response_format }));
  expect(refused).toMatchObject({ code: 'output_invalid' });
  expect(requests).toHaveLength(3);
});

it('any JSON object fits where no schema is given', async () => {
  script('[1]', '{"a":[1]}');
  const { choices } = await completed({ response_format: { type: 'json_object' } });
  expect(choices[0]?.message.content).toBe('{"a":[1]}');
});

it('Responses give the JSON too, whole and as a stream', async () => {
  const text = { format: { type: 'json_schema', name: 'place', strict: true, schema } };
  script(GOOD);
  const body = { model: 'gpt-x', input: 'go', text };
  const whole = await callV1('responses', {}, JSON.stringify(body));
  const { output } = await whole.json<OpenAiResponse>();
  expect(output).toMatchObject([{ type: 'message', content: [{ text: GOOD }] }]);
  script(GOOD);
  const events = await callV1('responses', {}, JSON.stringify({ ...body, stream: true }));
  const said = await events.text();
  expect(said).toContain(JSON.stringify(GOOD));
  expect(said).not.toContain('I look.');
});

it('a schema that nobody can apply, and patterns, refuse no answer', async () => {
  for (const odd of [
    { $ref: '#' },
    { type: 'object', properties: { city: { pattern: '^(a+)+$' } } },
  ]) {
    script(GOOD);
    const format = { type: 'json_schema', json_schema: { name: 'odd', schema: odd } };
    const { choices } = await completed({ response_format: format });
    expect(choices[0]?.message.content).toBe(GOOD);
  }
});

it('the tape has the JSON beside what was said', async () => {
  script(GOOD);
  const response = await complete({ response_format, store: true });
  await response.text();
  const id = response.headers.get('drawbridge-response-id') ?? '';
  expect(await (await call(`chat/completions/${id}`)).json()).toMatchObject({
    metadata: { output: GOOD },
  });
});
