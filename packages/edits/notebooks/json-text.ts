/** Changes a JSON text at one place, in the style of the text around it. All other bytes stay. */
import { type Node, parseTree } from 'jsonc-parser';
import { memberOf } from './notebook.ts';

/** How a text is formatted. */
export interface JsonStyle {
  /** The indentation of one level. */
  readonly unit: string;
  readonly eol: string;
  /** Between a name and its value, for example `: `. */
  readonly colon: string;
}

/** The style of an object with members, from its first one. */
export function styleOf(text: string, object: Node): JsonStyle {
  const [name, value] = object.children?.[0]?.children ?? [];
  if (name === undefined || value === undefined) return { unit: ' ', eol: '\n', colon: ': ' };
  const gap = gapBefore(text, name.offset);
  return {
    unit: indentationOf(gap) ?? '',
    eol: gap.includes('\r') ? '\r\n' : '\n',
    colon: text.slice(name.offset + name.length, value.offset),
  };
}

/**
 * The object's text with another value for a member. A new member stands in alphabetical order, as Jupyter writes them.
 * `known` has JSON that is taken for strings of the value.
 */
export function withMember(
  object: string,
  name: string,
  value: unknown,
  style: JsonStyle,
  known?: ReadonlyMap<string, string>,
): string {
  const root = parseTree(object);
  if (root === undefined) throw new Error('A cell that was read is no JSON.');
  const old = memberOf(root, name);
  const place = old?.children?.[1];
  if (old !== undefined && place !== undefined) {
    const base = indentationOf(gapBefore(object, old.offset));
    return spliced(object, place, printJson(value, style, base, known));
  }
  const members = root.children ?? [];
  const later = members.findIndex(({ children }) => String(children?.[0]?.value) > name);
  const toText = (base: string | null) =>
    JSON.stringify(name) + style.colon + printJson(value, style, base, known);
  return withSibling(object, root, later < 0 ? members.length : later, toText, style);
}

/** The object's text without a member. */
export function withoutMember(object: string, name: string): string {
  const root = parseTree(object);
  const at = root?.children?.findLastIndex(({ children }) => children?.[0]?.value === name) ?? -1;
  return root === undefined || at < 0 ? object : withoutSibling(object, root, at);
}

/** The text with one more element or member of `parent`, at this index. `toText` takes its indentation. */
export function withSibling(
  text: string,
  parent: Node,
  at: number,
  toText: (base: string | null) => string,
  style: JsonStyle,
): string {
  const siblings = parent.children ?? [];
  const next = siblings[at];
  const last = siblings.at(-1);
  if (last === undefined) return withFirst(text, parent, toText, style);
  // In one line the first one has no gap.
  const gap = gapBefore(text, last.offset);
  const fresh = toText(indentationOf(gap));
  if (next === undefined) return inserted(text, last.offset + last.length, `,${gap}${fresh}`);
  return inserted(text, next.offset, `${fresh},${gap}`);
}

/** The text without the element or member of `parent` at this index, and without its comma. */
export function withoutSibling(text: string, parent: Node, at: number): string {
  const siblings = parent.children ?? [];
  const [before, gone, next] = [siblings[at - 1], siblings[at] as Node, siblings[at + 1]];
  const end = gone.offset + gone.length;
  if (next !== undefined) return text.slice(0, gone.offset) + text.slice(next.offset);
  if (before !== undefined) return text.slice(0, before.offset + before.length) + text.slice(end);
  return text.slice(0, parent.offset + 1) + text.slice(parent.offset + parent.length - 1);
}

/** JSON in a style. `base` is the indentation of the line in which it begins; null: all of it in one line. */
export function printJson(
  value: unknown,
  style: JsonStyle,
  base: string | null,
  known?: ReadonlyMap<string, string>,
): string {
  if (typeof value === 'string') return known?.get(value) ?? JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = base === null ? null : base + style.unit;
  const print = (member: unknown) => printJson(member, style, inner, known);
  const isList = Array.isArray(value);
  const members = isList
    ? value.map(print)
    : Object.entries(value).map(
        ([name, member]) => JSON.stringify(name) + style.colon + print(member),
      );
  const [open, close] = isList ? '[]' : '{}';
  if (members.length === 0) return `${open}${close}`;
  if (inner === null) return open + members.join(style.colon.replace(':', ',')) + close;
  const line = style.eol + inner;
  return `${open}${line}${members.join(`,${line}`)}${style.eol}${base}${close}`;
}

/** Replaces a node of the text. */
export function spliced(text: string, { offset, length }: Node, fresh: string): string {
  return text.slice(0, offset) + fresh + text.slice(offset + length);
}

function inserted(text: string, at: number, fresh: string): string {
  return text.slice(0, at) + fresh + text.slice(at);
}

function withFirst(
  text: string,
  parent: Node,
  toText: (base: string | null) => string,
  style: JsonStyle,
): string {
  // An element stands one level below its list, whose line begins with the list's name.
  const name = parent.parent?.type === 'property' ? parent.parent : parent;
  const base = indentationOf(gapBefore(text, name.offset));
  const isInLine = base === null;
  const fresh = toText(isInLine ? null : base + style.unit);
  const inside = isInLine ? fresh : style.eol + base + style.unit + fresh + style.eol + base;
  const [open, close] = parent.type === 'array' ? '[]' : '{}';
  return spliced(text, parent, open + inside + close);
}

/** The white space before an offset. */
function gapBefore(text: string, offset: number): string {
  let start = offset;
  while (start > 0 && ' \t\r\n'.includes(text[start - 1] as string)) start--;
  return text.slice(start, offset);
}

/** Of a line that begins with the gap; null where the gap has no line end. */
function indentationOf(gap: string): string | null {
  const at = gap.lastIndexOf('\n');
  return at < 0 ? null : gap.slice(at + 1);
}
