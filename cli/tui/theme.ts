/** How the library's parts look, in the terminal's own colours. */
import type { EditorTheme, MarkdownTheme, SelectListTheme } from '@earendil-works/pi-tui';
import type { Paint, Style } from '../terminal/paint.ts';
import type { CodeColours } from './transcript/code-colours.ts';

/** Every list that a person chooses from. */
function selectTheme(paint: Paint): SelectListTheme {
  return {
    selectedPrefix: styled(paint, 'cyan'),
    selectedText: styled(paint, 'cyan'),
    description: styled(paint, 'dim'),
    scrollInfo: styled(paint, 'dim'),
    noMatch: styled(paint, 'dim'),
  };
}

/** The composer. */
export function editorTheme(paint: Paint): EditorTheme {
  return { borderColor: styled(paint, 'dim'), selectList: selectTheme(paint) };
}

/** Answers. */
export function markdownTheme(paint: Paint, colours: CodeColours): MarkdownTheme {
  return {
    heading: styled(paint, 'bold'),
    link: styled(paint, 'cyan'),
    linkUrl: styled(paint, 'dim'),
    code: styled(paint, 'cyan'),
    codeBlock: (text) => text,
    codeBlockBorder: styled(paint, 'dim'),
    quote: styled(paint, 'italic'),
    quoteBorder: styled(paint, 'dim'),
    hr: styled(paint, 'dim'),
    listBullet: styled(paint, 'cyan'),
    bold: styled(paint, 'bold'),
    italic: styled(paint, 'italic'),
    strikethrough: styled(paint, 'strikethrough'),
    underline: styled(paint, 'underline'),
    highlightCode: (code, language = '') => [...colours.linesOf(code, language)],
  };
}

function styled(paint: Paint, style: Style): (text: string) => string {
  return (text) => paint(style, text);
}
