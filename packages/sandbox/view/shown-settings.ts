/**
 * Settings that package managers need and that can hold credentials: a copy without these takes their place in the
 * sandbox. Only lines of a known form stay. Each other byte but the ends of lines becomes a comment or a blank, so the
 * copy has the file's size, by which git knows it as unchanged.
 */
import { toText } from '../../../machine/byte-path.ts';

/** What of the file commands see, both with one character for each byte; undefined for a file that they do not see. */
export function shownSettings(name: string, content: string): string | undefined {
  return FORMS.get(toText(name).toLowerCase())?.(content);
}

const FORMS: ReadonlyMap<string, (content: string) => string> = new Map([
  ['.npmrc', (content) => keepLines(content, /^(?:@[\w.-]+:)?[a-z][\w.-]*(?:\[\])?[\t ]*=/i)],
  ['.yarnrc.yml', (content) => dropEmptyKeys(keepLines(content, YAML_LINE))],
  [
    'local.properties',
    (content) => keepLines(content, /^(?:sdk|ndk|cmake|flutter)\.[\w.]+[\t ]*=/),
  ],
  ['nuget.config', keepElements],
  ['pip.conf', (content) => keepLines(content, INI_LINE)],
  ['pip.ini', (content) => keepLines(content, INI_LINE)],
]);

/** A key with its value, a key alone, or an item of a list. */
const YAML_LINE = /^[\t ]*(?:-[\t ]+)?(?:[\w@./-]+:(?:[\t ]|$)|"[^"]*"(?::|,?$)|-[\t ]+["'\w@])/;

/** A section, or a key with its value. A value of several lines loses those below the first. */
const INI_LINE = /^(?:\[[\w.-]+\][\t ]*$|[a-z][\w-]*[\t ]*[=:])/i;

/** In a key or a value: such a line may hold a credential. */
const CREDENTIAL =
  /auth|pass|pwd|token|secret|credential|key|cert|user|login|ident|bearer|basic|:\/\/[^/\s"']*@/i;

function keepLines(content: string, form: RegExp): string {
  return content.replaceAll(/[^\r\n]+/g, (line) => {
    const isShown = line.trim() === '' || (form.test(line) && !CREDENTIAL.test(line));
    return isShown ? line : comment(line);
  });
}

/** Of YAML: keys whose values are all left out. Yarn takes no key without a value. */
function dropEmptyKeys(content: string): string {
  let below = -1;
  const lines = content.split('\n').toReversed();
  const kept = lines.map((line) => {
    if (/^[\t ]*(?:#|\r?$)/.test(line)) return line;
    const indent = line.search(/\S/);
    const isEmpty = /:[\t ]*\r?$/.test(line) && below <= indent;
    if (isEmpty) return comment(line);
    below = /^[\t ]*- /.test(line) ? indent + 1 : indent;
    return line;
  });
  return kept.toReversed().join('\n');
}

function comment(line: string): string {
  const end = line.endsWith('\r') ? '\r' : '';
  return `${'#'.padEnd(line.length - end.length, '*')}${end}`;
}

/** Of XML: without comments, values of credentials, and the elements that hold them. */
function keepElements(content: string): string {
  if (!/^[^<]*<(?:\?xml|configuration)/i.test(content)) return blank(content);
  return content
    .replaceAll(/<!--(?:(?!-->)[\s\S])*(?:-->|$)/g, blank)
    .replaceAll(/<(packageSourceCredentials|apikeys)\b(?:(?!<\/\1>)[\s\S])*(?:<\/\1>|$)/gi, blank)
    .replaceAll(/<[^<>]*(?:>|$)/g, (tag) =>
      CREDENTIAL.test(tag.replace(TAG_NAMES, '')) ? blank(tag) : tag,
    );
}

/** Words of NuGet that look like others. */
const TAG_NAMES = /\bkey=|<\/?trustedSigners\b/gi;

function blank(text: string): string {
  return text.replaceAll(/[^\r\n]/g, ' ');
}
