import { describeRaces } from './describe-races.ts';

describeRaces(2_000);
