import { describe, expect, it } from 'vitest';
import { findLeftMarker, isMarker } from '../markers.ts';

const MARKERS = [
  '// ... existing code ...',
  '  // ...existing code...',
  '# ... existing code ...',
  '<!-- ... existing content ... -->',
  '/* ... rest of the file ... */',
  '{/* ... existing code ... */}',
  '-- ... unchanged ...',
  '; … remaining lines …',
  '// ... (rest of the methods)',
  '// ... keep existing code ...',
  '# ... other imports',
  '... existing code ...',
  '… rest of the function …',
];

const CODE = [
  '',
  '...',
  '// ...',
  '  ...rest',
  '  ...rest,',
  '  ...existing',
  '  ...other, more',
  'existing code',
  '// existing code',
  '// ... and then it fails',
  'foo(); // ... existing code ...',
  `// ... existing ${'very '.repeat(40)}long comment ...`,
];

describe('isMarker', () => {
  it.each(MARKERS)('takes %j for left out code', (line) => {
    expect(isMarker(line)).toBe(true);
  });

  it.each(CODE)('takes %j for text', (line) => {
    expect(isMarker(line)).toBe(false);
  });
});

describe('findLeftMarker', () => {
  it('finds a marker in new text', () => {
    expect(findLeftMarker('a\n  // ... existing code ...\n', 'b')).toBe(
      '  // ... existing code ...',
    );
  });

  it('finds a comment that only ends with an ellipsis', () => {
    expect(findLeftMarker('a\n// rest of the class ...\n', '')).toBe('// rest of the class ...');
  });

  it('lets a line pass that the file has already', () => {
    expect(findLeftMarker('// ... existing code ...\nx', '  // ... existing code ...')).toBe(null);
  });
});
