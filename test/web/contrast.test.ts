import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const styles = ['tokens.css', 'parts/parts.css', 'parts/colours.css']
  .map((file) => readFileSync(join(import.meta.dirname, '../../web', file), 'utf8'))
  .join('\n');

/** Name -> its colours on light and dark. */
const COLOURS = new Map(
  [...styles.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name, light, dark]) => [name ?? '', [light ?? '', dark ?? '']] as const,
  ),
);

/** As WCAG 2.2 defines them. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const TEXTS = [...COLOURS.keys()].filter((name) => /^(?:code-|ansi-|ink$|faint$)/.test(name));
const PAIRS = [
  ...TEXTS.flatMap((text) => ['sunken', 'card', 'paper'].map((ground) => [text, ground] as const)),
  ...(['good-wash', 'bad-wash'] as const).map((ground) => ['ink', ground] as const),
];

it.each(PAIRS)('%s is readable on %s', (text, ground) => {
  const [colours, grounds] = [COLOURS.get(text) ?? [], COLOURS.get(ground) ?? []];
  expect(grounds).toHaveLength(2);
  for (const [at, colour] of colours.entries()) {
    expect(contrast(colour, grounds[at] ?? '')).toBeGreaterThanOrEqual(4.5);
  }
});
