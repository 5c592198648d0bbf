/** Code of an answer, and code that an answer shows from a file. */
import { type Component, Container } from '@earendil-works/pi-tui';
import { nameInLine } from '../../../shared/text/plain-sight.ts';
import { shortLine } from '../../terminal/short-line.ts';
import { Cached } from './cached.ts';
import { isGrowing, type ScreenDocumentProps, textIn } from './document-props.ts';
import { type Code, GrowingCode } from './growing-code.ts';

export function codePart(props: ScreenDocumentProps): Component {
  const { document, look } = props;
  const language = textIn(document, 'language');
  const title = new Cached(() => {
    return language === '' || language === 'plaintext'
      ? []
      : [look.paint('dim', shortLine(language))];
  });
  return withTitle(title, props, { language });
}

export function referencePart(props: ScreenDocumentProps): Component {
  const { document, look } = props;
  const { startLine, endLine } = document.metadata;
  const [first, last] = [Number(startLine), Number(endLine)];
  const title = new Cached(() => {
    const path = nameInLine(textIn(document, 'filePath'));
    return [`${look.paint('cyan', path)}${look.paint('dim', `:${first}-${last}`)}`];
  });
  const hasNumbers = Number.isInteger(first) && Number.isInteger(last);
  const language = textIn(document, 'language');
  return withTitle(title, props, { language, ...(hasNumbers && { numbers: { first, last } }) });
}

function withTitle(
  title: Component,
  props: ScreenDocumentProps,
  code: Pick<Code, 'language' | 'numbers'>,
): Component {
  const { document, look } = props;
  const part = new Container();
  part.addChild(title);
  const text = () => document.content ?? '';
  const isOpen = () => isGrowing(props);
  part.addChild(new GrowingCode({ ...code, text, isOpen }, look.colours, look.paint));
  return part;
}
