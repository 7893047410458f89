/** The model of a cluster as a tree of text and as a picture. */
import { expect, test } from "vitest";
import { graphDrawing } from "../../bin/graph-drawing";
import { graphOf, graphText } from "../../bin/graph-text";
import * as cloudModel from "../../cloud/model";
import { type ComponentReference, PartList, Reference } from "../../cloud/model";
import { parseClusterSpec } from "../../cloud/spec-parse";
import { localProvider } from "../../providers/local";

const pool: ComponentReference = { type: "NodePool", name: "<a&b>" };

function small() {
  const list = new PartList();
  const key = list.add({ name: "key", kind: "guest:Key", inputs: {} });
  const machine = list.add({
    ...{ name: "machine", kind: "local:Machine", component: pool },
    inputs: { access: { key: new Reference(key, "publicKey") }, password: "a secret" },
  });
  const image = list.add({ name: "image", kind: "local:Image", inputs: {}, secrets: ["token"] });
  const inputs = { of: new Reference(machine, "id"), key: new Reference(key, "id") };
  list.add({ name: "node", kind: "guest:Node", component: pool, inputs, after: [image] });
  return list.toModel({});
}

test("a part waits for what it takes from others or stands after, told without what follows from that", () => {
  expect(graphOf(small(), cloudModel)).toEqual([
    { name: "key", kind: "guest:Key", component: null, needs: [], waitsFor: [] },
    { name: "machine", kind: "local:Machine", component: pool, needs: ["key"], waitsFor: ["key"] },
    { name: "image", kind: "local:Image", component: null, needs: [], waitsFor: [] },
    {
      ...{ name: "node", kind: "guest:Node", component: pool },
      needs: ["key", "machine", "image"],
      waitsFor: ["machine", "image"],
    },
  ]);
});

test("the text is a tree in which components stand where their first part is", () => {
  expect(graphText({ stack: "dev", parts: graphOf(small(), cloudModel) })).toBe(
    [
      "Cluster of the stack dev",
      "├─ key             guest:Key",
      "├─ NodePool <a&b>",
      "│  ├─ machine      local:Machine  after key",
      "│  └─ node         guest:Node     after machine, image",
      "└─ image           local:Image",
      "",
    ].join("\n"),
  );
});

test("the picture has a box for each part and an arrow for each that it waits for, forward only", () => {
  const drawing = graphDrawing({ stack: "dev", parts: graphOf(small(), cloudModel) });
  expect(drawing.match(/<g>/g)).toHaveLength(4);
  const arrows = [...drawing.matchAll(/<path d="M([\d.]+) [\d.]+C.* ([\d.]+) [\d.]+" fill="none"/g)];
  expect(arrows).toHaveLength(3);
  for (const [, from, to] of arrows) {
    expect(Number(to)).toBeGreaterThan(Number(from));
  }
  expect(drawing).toContain(">local:Machine, NodePool &lt;a&amp;b&gt;</text>");
  expect(drawing).not.toContain("a secret");
});

test("no two boxes of a whole cluster lie on each other, and all lie within the picture", () => {
  const spec = parseClusterSpec({
    name: "dev",
    pools: [
      { name: "workers", count: 20 },
      { name: "others", count: 3, cpus: 2 },
    ],
  });
  const model = localProvider.model(localProvider.render(spec, { project: "p", stack: "dev" }));
  const drawing = graphDrawing({ stack: "dev", parts: graphOf(model, cloudModel) });
  const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(drawing) ?? []).map(Number);
  const boxes = [...drawing.matchAll(/<g><rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"/g)].map((match) => {
    const [, x = 0, y = 0, wide = 0, high = 0] = match.map(Number);
    return { left: x, right: x + wide, top: y, bottom: y + high };
  });
  expect(boxes).toHaveLength(model.resources().size);
  for (const [index, one] of boxes.entries()) {
    expect(one.right <= width && one.bottom <= height && one.left > 0 && one.top > 0).toBe(true);
    for (const other of boxes.slice(index + 1)) {
      const apart =
        one.right < other.left || other.right < one.left || one.bottom < other.top || other.bottom < one.top;
      expect(apart, JSON.stringify([one, other])).toBe(true);
    }
  }
});
