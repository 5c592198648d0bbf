/** These files with all of their cases. */
import '../cli/agents/apply.test.ts';
import './ignored/tools.test.ts';
import './commands/run-terminal-cmd.test.ts';
