/** These files with all of their cases. */
import './closed/secret-names.test.ts';
import './ignored/ignored-paths.test.ts';
import './repository-marks.test.ts';
