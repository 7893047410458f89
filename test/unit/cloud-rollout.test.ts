/** A rollout: a few at a time, never for ever, and the reason in a sentence. */
import { describe, expect, test } from "vitest";
import { DeadlineError, UserError } from "../../cloud/errors";
import { Rollout } from "../../cloud/rollout";
import { RecordingContext } from "../doubles/context";

const turnOf = (slot: string, atATime = 2) => ({ group: "dev/workers", slot, atATime });
const never = () => new Promise<void>(() => undefined);

/** Takes a turn as a verb does, and tells when it has it. */
function begin(rollout: Rollout, slot: string, atATime?: number, context = new RecordingContext()) {
  let has = false;
  const taking = rollout
    .during(() => rollout.begin(turnOf(slot, atATime), context))
    .then(() => {
      has = true;
    });
  return { taking, context, has: () => has };
}

const shortly = () => new Promise((resolve) => setTimeout(resolve, 150));

describe("a turn", () => {
  test("is had at once by as many as may go at a time, and by the next one when one of them has ended", async () => {
    const rollout = new Rollout();
    void rollout.during(never);
    const [one, two, three] = ["workers-1", "workers-2", "workers-3"].map((slot) => begin(rollout, slot));
    await shortly();
    expect([one?.has(), two?.has(), three?.has()]).toEqual([true, true, false]);
    expect(three?.context.progressed).toEqual(["waiting for the turn of workers-3: workers-1, workers-2 first"]);
    rollout.end(turnOf("workers-2"));
    await three?.taking;
  });

  test("of one group is no matter of another, and to take one's own again waits for nothing", async () => {
    const rollout = new Rollout();
    await begin(rollout, "workers-1", 1).taking;
    await begin(rollout, "workers-1", 1).taking;
    await rollout.begin({ group: "dev/others", slot: "others-1", atATime: 1 }, new RecordingContext());
  });

  test("that was not taken can be ended", () => {
    new Rollout().end(turnOf("workers-1"));
  });
});

describe("waiting for a turn ends", () => {
  test("at once when another verb fails, before or while it waits", async () => {
    const rollout = new Rollout();
    await begin(rollout, "workers-1", 1).taking;
    const waiting = begin(rollout, "workers-2", 1);
    const failing = rollout.during(() => Promise.reject(new Error("the drain failed")));
    await expect(failing).rejects.toThrow("the drain failed");
    await expect(waiting.taking).rejects.toThrow(
      "workers-2 was not begun, since another step of this run failed. The next run goes on from here.",
    );
    await expect(begin(rollout, "workers-3", 9).taking).rejects.toThrow(UserError);
  });

  test("when nothing but waiting is under way, as after Ctrl-C under plain Pulumi or with too few slots", async () => {
    const rollout = new Rollout(0.2);
    await begin(rollout, "workers-1", 1).taking;
    const began = performance.now();
    await expect(
      Promise.all([begin(rollout, "workers-2", 1).taking, begin(rollout, "workers-3", 1).taking]),
    ).rejects.toThrow(/this run does nothing any more that it could wait for.*PULUMI_PARALLEL/);
    expect(performance.now() - began).toBeLessThan(2000);
  });

  test("not while another verb is under way, however long that takes", async () => {
    const rollout = new Rollout(0.1);
    await begin(rollout, "workers-1", 1).taking;
    const working = rollout.during(() => new Promise((resolve) => setTimeout(resolve, 500)));
    const waiting = begin(rollout, "workers-2", 1);
    await working;
    rollout.end(turnOf("workers-1"));
    await waiting.taking;
  });

  test("at once when the run is interrupted", async () => {
    const rollout = new Rollout();
    void rollout.during(never);
    await begin(rollout, "workers-1", 1).taking;
    const waiting = begin(rollout, "workers-2", 1);
    waiting.context.interrupt();
    await expect(waiting.taking).rejects.toThrow(DeadlineError);
    await expect(waiting.taking).rejects.toThrow(/the run was interrupted; last: workers-1 first/);
  });
});
