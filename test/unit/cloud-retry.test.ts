import { expect, test } from "vitest";
import { DeadlineError, TransientError } from "../../cloud/errors";
import { retryTransient, waitUntil } from "../../cloud/retry";

const quick = { description: "the door to open", seconds: 5, pauseMilliseconds: 1 };

test("looks until the thing is there, and tells each new reason once", async () => {
  const reasons: string[] = [];
  const looks = [{ pending: "locked" }, { pending: "locked" }, { pending: "stuck" }, { found: 7 }];
  const found = await waitUntil(
    { ...quick, progress: (message) => reasons.push(message) },
    async () => looks.shift() ?? { found: 0 },
  );
  expect(found).toBe(7);
  expect(reasons).toEqual(["waiting for the door to open: locked", "waiting for the door to open: stuck"]);
});

test("takes a transient failure for a reason to wait, and any other for the end", async () => {
  const failures = [new TransientError("refused"), new Error("no such door")];
  await expect(
    waitUntil(quick, async () => {
      throw failures.shift();
    }),
  ).rejects.toThrow("no such door");
  expect(failures).toEqual([]);
});

test("ends at its time limit with the last reason", async () => {
  const wait = waitUntil({ ...quick, seconds: 0.05 }, async () => ({ pending: "locked" }));
  await expect(wait).rejects.toThrow(DeadlineError);
  await expect(wait).rejects.toThrow("waited 0.05 s for the door to open, in vain; last: locked");
});

test("ends at once when interrupted, also in the middle of a pause", async () => {
  const interruption = new AbortController();
  const wait = waitUntil(
    { ...quick, pauseMilliseconds: 60_000, signal: interruption.signal, seconds: 120 },
    async () => {
      setTimeout(() => interruption.abort(new Error("the run was interrupted")), 5);
      return { pending: "locked" };
    },
  );
  await expect(wait).rejects.toThrow("stopped waiting for the door to open: the run was interrupted; last: locked");
});

test("retryTransient tries again after passing failures and gives up with the last of them", async () => {
  const failures = [new TransientError("busy"), new TransientError("still busy")];
  const attempt = async () => {
    const failure = failures.shift();
    if (failure) {
      throw failure;
    }
    return "done";
  };
  await expect(retryTransient(quick, attempt)).resolves.toBe("done");
  const never = retryTransient({ ...quick, seconds: 0.02 }, async () => {
    throw new TransientError("busy for ever");
  });
  await expect(never).rejects.toThrow("busy for ever");
});
