import { expect, it } from 'vitest';
import { TOOL_LIMITS } from '../../../shared/limits.ts';
import { temporaryWorkspace } from './temporary-workspace.ts';

/** A record of this line has more than the limit: each match is listed with its place. */
const MANY = 'var a=1;'.repeat(180_000);
const LONG = `${'ä"\\'.repeat(900_000)}NEEDLE${'y'.repeat(5_000)}`;

it.each([
  ['content', { pattern: 'var' }, /^min\.js\n2:var a=1;.*…\n4:some var\n\(2 matches\.\)$/],
  ['files', { pattern: 'var', output_mode: 'files_with_matches' }, /^min\.js\n\(1 file\.\)$/],
  ['counts', { pattern: 'var', output_mode: 'count' }, /^min\.js:2\n\(1 file\.\)$/],
  [
    'what is around it',
    { pattern: 'needle', '-i': true },
    /^min\.js\n3:….*ä"\\NEEDLEyyy.*…\n\(1 match\.\)$/,
  ],
  ['a match that is the line', { pattern: '^.*NEEDLE.*$' }, /^min\.js\n3:ä"\\ä.*…\n\(1 match\.\)$/],
  ['earlier matches once', { pattern: 'first|NEEDLE' }, /^min\.js\n1:first\n3:…/],
  [
    'lines around',
    { pattern: 'NEEDLE|some', '-C': 1 },
    /^min\.js\n2-var [^\n]*\n3:…[^\n]*\n4:some var\n\(2 matches\.\)$/,
  ],
])('grep in a line of megabytes shows %s', async (_, args, data) => {
  const { call } = await temporaryWorkspace({ 'min.js': `first\n${MANY}\n${LONG}\nsome var\n` });
  const result = await call('grep', args);
  expect(result.data).toMatch(data);
  expect(result.data.length).toBeLessThan(3 * TOOL_LIMITS.maxLineChars);
});
