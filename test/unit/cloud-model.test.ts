import { expect, test } from "vitest";
import { checkModel, Derived, inOrder, type Part, Reference, referencesIn } from "../../cloud/model";

const part = (name: string, more: Partial<Part> = {}): Part =>
  ({ kind: "memory:Thing", name, inputs: {}, ...more }) as Part;

test("walks the parts by index, however they were put in", () => {
  const parts = new Map([10, 2, 1].map((index) => [index, part(`p${index}`)]));
  expect(inOrder(parts).map(([index]) => index)).toEqual([1, 2, 10]);
});

test("finds references at any depth", () => {
  const reference = new Reference(1, "address");
  const inputs = { a: [{ b: reference }], c: new Derived({ d: new Reference(2, "id") }, () => ""), e: null };
  expect(referencesIn(inputs).map(({ index }) => index)).toEqual([1, 2]);
});

test.each([
  [
    "a double name",
    new Map([
      [0, part("a")],
      [1, part("a")],
    ]),
    'two parts named "a"',
  ],
  [
    "a reference forwards",
    new Map([
      [0, part("a", { inputs: { x: new Reference(1, "y") } })],
      [1, part("b")],
    ]),
    'Part 0 ("a") takes "y" from part 1, which is made later.',
  ],
  ["a reference to itself", new Map([[0, part("a", { inputs: { x: new Reference(0, "y") } })]]), "which is made later"],
  [
    "a reference to nothing",
    new Map([[5, part("a", { inputs: { x: new Reference(3, "y") } })]]),
    "which the model does not have",
  ],
  [
    "an edge forwards",
    new Map([
      [0, part("a", { after: [1] })],
      [1, part("b")],
    ]),
    'Part 0 ("a") names part 1, which is made later.',
  ],
])("refuses %s", (_what, parts, message) => {
  expect(() => checkModel(parts)).toThrow(message);
});

test("takes an edge to a part that is not there for an edge to nothing", () => {
  expect(() => checkModel(new Map([[5, part("a", { after: [3] })]]))).not.toThrow();
});
