/** An animated SVG of two terminals: each line of each screen is a text that is shown for its time. */

export interface Frame {
  readonly atMs: number;
  /** As tmux captures them, with colours. */
  readonly screens: readonly string[];
}

const CHAR_WIDTH = 7.6;
const LINE_HEIGHT = 17;
const FONT_SIZE = 12.6;
const MARGIN = 12;
const TITLE_HEIGHT = 24;
const TITLES = ['a terminal', 'another one, later'];
const COLOURS: Readonly<Record<string, string>> = {
  2: 'opacity=".6"',
  1: 'font-weight="bold"',
  31: 'fill="#ff8b82"',
  32: 'fill="#8fd694"',
  33: 'fill="#e8c878"',
  36: 'fill="#7fd0dc"',
};

interface Line {
  readonly text: string;
  readonly fromMs: number;
  untilMs: number;
}

/** The picture, which begins again when it has ended. */
export function newRecording(
  frames: readonly Frame[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
): string {
  const endMs = frames.at(-1)?.atMs ?? 0;
  const width = Math.ceil(columns * CHAR_WIDTH + 2 * MARGIN);
  const height = TITLE_HEIGHT + rows * LINE_HEIGHT + 2 * MARGIN;
  const screens = TITLES.map((title, screen) => {
    const x = screen * (width + MARGIN);
    const lines = Array.from({ length: rows }, (_, row) =>
      linesAt(frames, screen, row, endMs).map((line) => textOf(line, row, endMs)),
    );
    return `<g transform="translate(${x})"><rect width="${width}" height="${height}" rx="8"/><text class="t" x="${MARGIN}" y="20">${title}</text>${lines.flat().join('')}</g>`;
  });
  const whole = `${2 * width + MARGIN} ${height}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${whole}" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="${FONT_SIZE}" fill="#e6e6e6">
<title>A terminal is killed in the middle of an answer, another one goes on with it</title>
<style>rect{fill:#16181d}text{white-space:pre}.t{fill:#8b93a1}</style>
<rect width="0" height="0"><animate id="l" attributeName="x" dur="${seconds(endMs)}" begin="0s;l.end"/></rect>
${screens.join('\n')}
</svg>
`;
}

/** What stood in one row, one text after the other. */
function linesAt(frames: readonly Frame[], screen: number, row: number, endMs: number): Line[] {
  const lines: Line[] = [];
  for (const { atMs, screens } of frames) {
    const text = screens[screen]?.split('\n')[row]?.trimEnd() ?? '';
    const last = lines.at(-1);
    if (last?.text === text) continue;
    if (last) last.untilMs = atMs;
    lines.push({ text, fromMs: atMs, untilMs: endMs });
  }
  return lines.filter(({ text }) => text !== '');
}

function textOf({ text, fromMs, untilMs }: Line, row: number, endMs: number): string {
  const y = TITLE_HEIGHT + MARGIN + row * LINE_HEIGHT + 10;
  const until = untilMs < endMs ? ` end="l.begin+${seconds(untilMs)}"` : ' end="l.end"';
  const set = `<set attributeName="visibility" to="visible" begin="l.begin+${seconds(fromMs)}"${until}/>`;
  return `<text x="${MARGIN}" y="${y}" visibility="hidden">${styled(text)}${set}</text>`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)}s`;
}

/** The pieces of a line between its escapes. */
function styled(line: string): string {
  let styles: readonly string[] = [];
  return line
    .split(ESCAPE)
    .map((piece, at) => {
      if (at % 2 === 0) return piece && span(escaped(piece), styles);
      const codes = piece.split(';');
      styles =
        codes.includes('0') || piece === '' || piece === '39' ? codes : [...styles, ...codes];
      return '';
    })
    .join('');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send it.
const ESCAPE = /\x1b\[([\d;]*)m/;

function span(text: string, styles: readonly string[]): string {
  const found = new Set(styles.flatMap((code) => COLOURS[code] ?? []));
  return found.size === 0 ? text : `<tspan ${[...found].join(' ')}>${text}</tspan>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
