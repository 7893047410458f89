/** Random changes and blows on the real engine: the odd half of the cases (random-cases.ts). */
import { playCases } from "./random-cases";

playCases({ part: 1, of: 2 });
