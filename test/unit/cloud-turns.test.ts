import { expect, test } from "vitest";
import { DeadlineError } from "../../cloud/errors";
import { Turns } from "../../cloud/turns";

const never = new AbortController().signal;

/** Work that ends when it is told to, and a record of when each began. */
class Works {
  readonly begun: string[] = [];
  readonly end = new Map<string, () => void>();

  of(name: string) {
    return () =>
      new Promise<string>((resolve) => {
        this.begun.push(name);
        this.end.set(name, () => resolve(name));
      });
  }
}

const settle = () => new Promise((next) => setTimeout(next, 0));

test("as many as may work at once, the others in the order in which they came", async () => {
  const turns = new Turns(2);
  const works = new Works();
  const waiting: string[] = [];
  const all = ["a", "b", "c", "d"].map((name) => turns.take(never, works.of(name), () => waiting.push(name)));
  await settle();
  expect([works.begun, waiting]).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
  works.end.get("b")?.();
  await settle();
  expect(works.begun).toEqual(["a", "b", "c"]);
  for (const name of ["a", "c", "d"]) {
    works.end.get(name)?.();
    await settle();
  }
  expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
});

test("work that fails gives its turn on", async () => {
  const turns = new Turns(1);
  await expect(turns.take(never, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await turns.take(never, async () => "next")).toBe("next");
});

test("an interruption ends the wait for a turn and takes none", async () => {
  const turns = new Turns(1);
  const works = new Works();
  const first = turns.take(never, works.of("first"));
  const interruption = new AbortController();
  const second = turns.take(interruption.signal, works.of("second"));
  interruption.abort(new Error("the run was interrupted"));
  await expect(second).rejects.toBeInstanceOf(DeadlineError);
  works.end.get("first")?.();
  await first;
  expect(await turns.take(never, async () => "third")).toBe("third");
  expect(works.begun).toEqual(["first"]);
});
