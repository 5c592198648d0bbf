/** The files of rules that the newest answer had, each with the reason. */
import { useCallback } from 'preact/hooks';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { RuleReport, RuleReports } from '../../shared/wire/rules.ts';
import { Answer } from '../parts/answer.tsx';
import type { Thread } from '../store/thread.ts';
import { words } from '../words/settings.ts';

export function RuleList({ thread: { host, id } }: { readonly thread: Thread }) {
  const { client } = host;
  const read = useCallback((signal: AbortSignal) => client.getRules(id, signal), [client, id]);
  return <Answer read={read}>{(reports) => <Shown reports={reports} />}</Answer>;
}

function Shown({ reports }: { readonly reports: RuleReports }) {
  const { responseId, isKnown, rules, leftOut } = reports;
  if (responseId === null) return <p class="hint">{words.rulesLater}</p>;
  if (rules.length + leftOut.length === 0) {
    return (
      <p class="hint">
        {isKnown ? words.noRules : words.rulesUnknown} <code>AGENTS.md</code>
      </p>
    );
  }
  return (
    <ul class="rows">
      {rules.map((rule) => (
        <Row key={`${rule.origin} ${rule.path}`} rule={rule} />
      ))}
      {leftOut.map(({ path, reason }) => (
        <li key={path}>
          <code>{inOneLine(path)}</code>
          <span class="off">{words.ruleStates['left_out']}</span>
          <p class="hint">{inOneLine(reason)}</p>
        </li>
      ))}
    </ul>
  );
}

function Row({ rule }: { readonly rule: RuleReport }) {
  const { path, origin, state, reason, file, notes = [] } = rule;
  const why = words.ruleReasons[reason] ?? reason;
  return (
    <li>
      <code>{inOneLine(path)}</code>
      <span class={state === 'applied' ? 'on' : 'off'}>{words.ruleStates[state]}</span>
      <p class="hint">
        {words.ruleOrigins[origin]} · {why} {file !== undefined && <code>{inOneLine(file)}</code>}
      </p>
      {notes.map((note) => (
        <p key={note} class="hint">
          {inOneLine(note)}
        </p>
      ))}
    </li>
  );
}
