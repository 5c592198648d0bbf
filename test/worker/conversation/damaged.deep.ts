import { testDamages } from './damage.ts';

testDamages(1);
