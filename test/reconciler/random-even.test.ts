/** Random changes and blows on the real engine: the even half of the cases (random-cases.ts). */
import { playCases } from "./random-cases";

playCases({ part: 0, of: 2 });
