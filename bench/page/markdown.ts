/** The Markdown of a scripted answer: what coding agents write. */

/** Sections of some 1,200 characters until there are `chars` of them; `end` is the last line. */
export function markdownOf(chars: number, end: string): string {
  let text = '';
  for (let section = 1; text.length < chars; section++) text += sectionOf(section);
  return text + end;
}

function sectionOf(section: number): string {
  return `## Step ${section}: the reader of frames

The **reader** in \`src/reader-${section}.ts\` takes each frame as it comes, and *never* waits for the next one. It
keeps the rest of a frame that is cut, which [the protocol](https://example.com/protocol#${section}) allows. Three things
follow from that:

1. A frame of ${section * 7} bytes needs **no** copy.
2. The end of the stream is an error only inside a frame.
3. What is left over is at most \`maxFrameBytes\`.

- It is called from one place.
  - That place owns the buffer.
- Nothing else may write to it.

\`\`\`ts
export function readFrame(bytes: Uint8Array, at: number): Frame | undefined {
  const length = bytes[at] ?? 0; // The first byte says it.
  if (bytes.length < at + length + 1) return undefined;
  return { kind: ${section}, body: bytes.subarray(at + 1, at + 1 + length) };
}
\`\`\`

| Case | Before | After |
| ---- | ------ | ----- |
| small frames | ${section * 3} ms | ${section} ms |
| a frame that is cut | \`undefined\` | waits |

> The tests of \`reader-${section}.test.ts\` cut every frame at every byte.

`;
}
