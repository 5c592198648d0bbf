/** Changes single settings in the text of config.json, and leaves all else as it is: order, indentation, `$schema`. */
import { applyEdits, modify } from 'jsonc-parser';
import { LocalError } from '../../machine/local-error.ts';
import { formatPath } from '../../shared/errors.ts';
import { findJsonMistake } from './json-error.ts';
import { fieldsAt, isListAt, SCHEMA_FILE } from './json-schema.ts';
import { describeProblem, describeUnknown } from './problems.ts';
import { Config } from './schema.ts';

/** `['models', 0, 'id']` for `models.0.id` and `models[0].id`. */
export type SettingPath = readonly (string | number)[];

/** @throws {LocalError} if there is no such setting. */
export function parseSettingPath(text: string): SettingPath {
  const path: (string | number)[] = [];
  for (const word of text.replaceAll(/\[(\d+)\]/g, '.$1').split('.')) {
    const known = fieldsAt(path);
    if (isListAt(path) && !/^\d+$/.test(word)) {
      const list = formatPath(path);
      const text = `${list} is a list: name one of its entries by its number, such as ${list}.0.`;
      throw new LocalError('refused', text);
    }
    if (/^\d+$/.test(word) && known.length === 0) path.push(Number(word));
    else if (known.length > 0 && !known.includes(word)) {
      throw new LocalError('refused', describeUnknown(path, word));
    } else path.push(word);
  }
  return path;
}

/** The typed value: JSON where that is right for the setting, else the text. @throws {LocalError} if neither is. */
export function withTypedSetting(
  text: string | undefined,
  path: SettingPath,
  typed: string,
): string {
  const asJson = findJsonMistake(typed) ? [] : [JSON.parse(typed) as unknown];
  const texts = [...asJson, typed].map((value) => withSetting(text, path, value));
  const right = texts.find((candidate) => Config.safeParse(JSON.parse(candidate)).success);
  if (right !== undefined) return right;
  const { error } = Config.safeParse(JSON.parse(texts[0] ?? '{}'));
  throw new LocalError('refused', error ? describeProblem(error) : 'The value is not right.');
}

/** The text with the setting, and a link to the schema. @throws {LocalError} where a list has no place for it. */
export function withSetting(text: string | undefined, path: SettingPath, value: unknown): string {
  const linked = withSchemaLink(text ?? '{}');
  for (const [depth, key] of path.entries()) {
    const above = path.slice(0, depth);
    const list: unknown = above.reduce((part, each) => Object(part)[each], JSON.parse(linked));
    const length = Array.isArray(list) ? list.length : 0;
    if (typeof key === 'string' || key <= length) continue;
    const name = formatPath(above);
    const text = `${name} has ${length} entries: the next one is ${name}.${length}.`;
    throw new LocalError('refused', text);
  }
  return changed(linked, path, value);
}

/** The text without the setting. @throws {LocalError} if the rest is not right without it. */
export function withoutSetting(text: string | undefined, path: SettingPath): string {
  const left = changed(withSchemaLink(text ?? '{}'), path, undefined);
  const parsed = Config.safeParse(JSON.parse(left));
  if (!parsed.success) throw new LocalError('refused', describeProblem(parsed.error));
  return left;
}

/** The text with the link to the schema. */
export function withSchemaLink(text: string): string {
  if ('$schema' in JSON.parse(text)) return text;
  return changed(text, ['$schema'], `./${SCHEMA_FILE}`, () => 0);
}

/** All other bytes stay as they are. The text has been parsed before: it is an object. */
function changed(
  text: string,
  path: SettingPath,
  value: unknown,
  getInsertionIndex?: () => number,
): string {
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  const formattingOptions = { insertSpaces: !indent.includes('\t'), tabSize: indent.length };
  const edits = modify(text, [...path], value, {
    formattingOptions,
    ...(getInsertionIndex && { getInsertionIndex }),
  });
  return `${applyEdits(text, edits).trimEnd()}\n`;
}
