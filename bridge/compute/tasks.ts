/** The computations over what files, pages and lists hold. Each has a check for inputs so small that it runs at once. */
import { isFewLines, LIGHT_BYTES, LIGHT_NOTEBOOK_BYTES } from '../../machine/compute/light.ts';
import { task } from '../../machine/compute/task.ts';
import { isNotebook } from '../../packages/edits/index.ts';
import { KIB } from '../../shared/units.ts';
import { describeChange } from './change-text.ts';
import { showFile } from './file-window.ts';
import { readImageHeader } from './image.ts';
import { formatLayout } from './layout.ts';
import { markdownOfHtml } from './page-text.ts';
import { isLightMatching, matchesAny } from './pattern.ts';
import { isPdf } from './pdf-text.ts';

/** A new computation that grows with a call's input is one more row. */
export const CONTENT_TASKS = {
  showFile: task(
    'showFile',
    showFile,
    ({ name, bytes }) =>
      bytes.length <= (isNotebook(name) ? LIGHT_NOTEBOOK_BYTES : LIGHT_BYTES) && !isPdf(bytes),
    ({ name, bytes }) => isPdf(bytes) || isNotebook(name),
  ),
  readImage: task(
    'readImage',
    readImageHeader,
    () => false,
    () => true,
  ),
  describeChange: task('describeChange', describeChange, ({ before, after }) =>
    isFewLines([before, after]),
  ),
  matchesAny: task('matchesAny', matchesAny, isLightMatching),
  formatLayout: task('formatLayout', formatLayout, ({ length }) => length <= LIGHT_LIST_CHARS),
  markdownOfHtml: task('markdownOfHtml', markdownOfHtml, ({ html }) => html.length <= LIGHT_BYTES),
};

/** Measured: the tree of some 7,000 files takes 3 ms. */
const LIGHT_LIST_CHARS = 256 * KIB;
