/**
 * What growing a pool costs: five workers at once beside one, and one worker more in a large cluster beside a small one.
 */
import type { ClusterProject } from "./cluster-project";
import { type Ratio, ratio, say } from "./ratio";

const rounds = 3;

/** Begins and ends with a cluster that is up. */
export async function scalingRatios(cluster: ClusterProject): Promise<Ratio[]> {
  const one: number[] = [];
  const five: number[] = [];
  await cluster.scale(1);
  for (let round = 0; round < rounds; round++) {
    say(`growing a pool, round ${round + 1} of ${rounds}`);
    one.push(await cluster.scale(2));
    await cluster.scale(1);
    five.push(await cluster.scale(6));
    await cluster.scale(1);
  }
  const small = await cluster.callsOfScaling(2);
  await cluster.scale(6);
  const large = await cluster.callsOfScaling(7);
  await cluster.scale(1);
  return [
    ratio("1 to 6 workers / 1 to 2 workers", five, one, "s"),
    ratio("calls of one worker more, of 6 / of 1", [large], [small], "calls"),
  ];
}
