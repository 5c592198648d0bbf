/** What a machine allows, as its owner's files are. Nothing here changes it: the machine has the last word. */
import { useCallback } from 'preact/hooks';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { AccountGrant } from '../../shared/wire/grants.ts';
import type { MachinePolicy, PolicyRule } from '../../shared/wire/policy.ts';
import { Answer } from '../parts/answer.tsx';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';
import { shortTime } from '../words/short.ts';

interface PolicyProps {
  readonly account: PageAccount;
  readonly bridgeId: string;
}

export function Policy({ account: { client }, bridgeId }: PolicyProps) {
  const read = useCallback(
    (signal: AbortSignal) => client.getPolicy(bridgeId, signal),
    [client, bridgeId],
  );
  return (
    <Answer read={read} todo={words.policyUnread}>
      {(policy) => <Shown policy={policy} />}
    </Answer>
  );
}

function Shown({ policy }: { readonly policy: MachinePolicy }) {
  const { preset, rules, ruleCount, grants, problems } = policy;
  return (
    <div class="policy">
      {problems.map((problem) => (
        <p key={problem} role="alert">
          {problem}
        </p>
      ))}
      <p>{preset ? (words.presets[preset] ?? preset) : words.noPreset}</p>
      <h3>{words.rules}</h3>
      <p class="hint">{rules.length === 0 ? words.noOwnRules : words.lastRuleWins}</p>
      {ruleCount > rules.length && <p class="hint">{words.lastOf(rules.length, ruleCount)}</p>}
      <ul class="rows">
        {rules.map((rule, index) => (
          <RuleRow key={`${index} ${rule.id}`} rule={rule} />
        ))}
      </ul>
      <p class="hint">
        {words.changesThere} <code>drawbridge policy</code>
      </p>
      <h3>{words.grants}</h3>
      {grants.length === 0 && <p class="hint">{words.noGrants}</p>}
      <ul class="rows">
        {grants.map((grant) => (
          <GrantRow key={grant.name} grant={grant} />
        ))}
      </ul>
      <p class="hint">
        {words.changesThere} <code>drawbridge allow</code>
      </p>
    </div>
  );
}

function RuleRow({ rule }: { readonly rule: PolicyRule }) {
  const { scope, decision, tool, pattern, permissions, sandbox, answered } = rule;
  const facts = [
    words.ruleScopes[scope] ?? scope,
    ...(permissions?.length ? [words.permissions(permissions.join(', '))] : []),
    ...(sandbox ? [words.inSandbox] : []),
    ...(answered ? [words.byAnswer(shortTime(answered))] : []),
  ];
  return (
    <li>
      <span>{words.decisions[decision] ?? decision}</span>
      <code>
        {inOneLine(tool)} {inOneLine(pattern)}
      </code>
      <p class="hint">{facts.join(' · ')}</p>
    </li>
  );
}

function GrantRow({ grant: { name, preset, worktrees, since } }: { readonly grant: AccountGrant }) {
  const where = worktrees ? words.inWorktrees : words.inFolder;
  return (
    <li>
      <code>{inOneLine(name)}</code>
      <p class="hint">
        {words.grantedPresets[preset] ?? preset} · {where} · {words.since(shortTime(since))}
      </p>
    </li>
  );
}
