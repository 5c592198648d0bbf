import { deep } from '../../../depth.ts';
import { testExcerpts } from './excerpts.ts';

testExcerpts(deep(30));
