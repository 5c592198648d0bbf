import { expect, it } from 'vitest';
import { StampReader, stampedToken } from '../../bench/stamps.ts';

it('reads the age of every token, however the stream is cut', () => {
  const text = `data: {"delta":"${stampedToken()}"}\n\ndata: {"delta":"${stampedToken()}${stampedToken()}"}\n\n`;
  for (let cut = 0; cut <= text.length; cut++) {
    const reader = new StampReader(3);
    reader.push(text.slice(0, cut));
    reader.push(text.slice(cut));
    expect(reader.agesMs).toHaveLength(3);
    for (const ageMs of reader.agesMs) expect(ageMs).toBeLessThan(5_000);
  }
});

it('measures how long a token was under way', async () => {
  const token = stampedToken();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const reader = new StampReader(1);
  reader.push(token);
  expect(reader.agesMs[0]).toBeGreaterThan(49);
});

it('leaves out what is repeated after the last token', () => {
  const token = stampedToken();
  const reader = new StampReader(1);
  reader.push(token);
  reader.push(token);
  expect(reader.agesMs).toHaveLength(1);
});
