/** These files with all of their cases. */
import '../cli/agents/apply.test.ts';
import './admission/lasting.test.ts';
import './ignored/ignored-paths.test.ts';
import './ignored/tools.test.ts';
import './commands/run-terminal-cmd.test.ts';
import './sandbox/view/secret-names.test.ts';
import './workspace/repository-marks.test.ts';
