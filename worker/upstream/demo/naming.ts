/** Steps and numbers, in words. */
import { EDGE_TOOL_LIMITS } from '../../../shared/limits.ts';
import { code } from './quote.ts';
import type { Step } from './steps.ts';

/** A step as what was asked for: it stands behind "I could not". */
export function wish(step: Step): string {
  switch (step.type) {
    case 'read':
    case 'list':
    case 'write':
    case 'delete':
      return `${step.type} ${code(step.path)}`;
    case 'find':
    case 'search':
      return `${step.type === 'find' ? 'find' : 'search for'} ${code(step.pattern)}`;
    case 'explore':
      return `look into ${code(step.question)}`;
    case 'replace':
      return `change ${code(step.path)}`;
    case 'run':
      return `run ${code(step.command)}`;
    case 'summarise':
      return 'look at the project';
    case 'plan':
      return 'lay out a plan';
    case 'unknown':
      return `do ${code(step.text)}`;
  }
}

/** A step as one item of what is to be done; what was not understood in the user's words. */
export function itemOf(step: Step): string {
  return step.type === 'unknown' ? step.text.replaceAll('\n', ' ') : wish(step);
}

/** A step as a todo or a heading, as long as the tools take it. */
export function titleOf(step: Step): string {
  return cut(capitalise(itemOf(step)), EDGE_TOOL_LIMITS.maxTodoChars);
}

export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** In UTF-16 units; half a character at the end becomes a replacement character. */
export function cut(text: string, maxChars: number): string {
  return text.slice(0, maxChars).toWellFormed();
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

export function joined(items: readonly string[]): string {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} and ${last}`;
}
