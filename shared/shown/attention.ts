/** What a command left behind that could start a program, in words. */
import type { AttentionItem } from '../wire/attention.ts';

/** One sentence for people and for the model. `program` is the command by which the reader starts Drawbridge. */
export function attentionSentence(
  { name, quarantined, what, failure }: AttentionItem,
  program = 'drawbridge',
): string {
  const list = what.join(', ');
  if (failure !== undefined) {
    return `${name} is new and could NOT be quarantined, remove it before you use it: ${failure}.`;
  }
  if (quarantined) {
    return `${name} is new; what could start programs there was quarantined (\`${program} quarantine\` shows it): ${list}.`;
  }
  return what.length === 0
    ? `${name} is new; nothing in it starts programs.`
    : `${name} is new or was changed, look at it before you use it: ${list}.`;
}
