/**
 * A graph of parts as a picture: an SVG that needs nothing but itself. Each part stands in the column after the last one
 * that it waits for, and each component has a colour. Pure.
 */
import type { Graph, GraphPart } from "./graph-text";

/** Sizes in pixels. */
const box = 40;
const between = { boxes: 18, columns: 70 };
const margin = 24;
/** The most that a letter of a box's two lines takes. */
const letters = [7.4, 6.2] as const;

/** A box, or where an arrow passes through a column between those that it joins. */
interface Place {
  readonly part?: GraphPart;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

type Places = ReadonlyMap<string, Place>;

export function graphDrawing({ stack, parts }: Graph): string {
  const columnOf = columnsOf(parts);
  const places = placesOf(parts, columnOf);
  const all = [...places.values()];
  const width = Math.max(240, ...all.map(({ x, width }) => x + width + margin));
  const height = Math.max(margin, ...all.map(({ y, height }) => y + height)) + margin;
  const colours = coloursOf(parts);
  const title = escaped(`Cluster of the stack ${stack}`);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    '  font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12" role="img">',
    `<title>${title}</title>`,
    '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">',
    '  <path d="M0 0 8 4 0 8z" fill="#667"/></marker></defs>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="${margin}" y="${margin}" font-weight="bold">${title}</text>`,
    ...parts.flatMap(({ name, waitsFor }) => waitsFor.map((from) => arrow(stops(from, name, columnOf), places))),
    ...all.flatMap((place) => drawn(place, colours)),
    "</svg>",
  ].join("\n")}\n`;
}

/** A part's column is one after those of all that it waits for. */
function columnsOf(parts: readonly GraphPart[]): ReadonlyMap<string, number> {
  const columnOf = new Map<string, number>();
  for (const { name, waitsFor } of parts) {
    columnOf.set(name, 1 + Math.max(-1, ...waitsFor.map((from) => columnOf.get(from) ?? -1)));
  }
  return columnOf;
}

/** Where everything stands; in a column, in the model's order. */
function placesOf(parts: readonly GraphPart[], columnOf: ReadonlyMap<string, number>): Places {
  const columns: [string, GraphPart | undefined][][] = [];
  for (const part of parts) {
    const passing = part.waitsFor.flatMap((from) => stops(from, part.name, columnOf).slice(1, -1));
    for (const { key, column } of [{ key: part.name, column: columnOf.get(part.name) ?? 0 }, ...passing]) {
      columns[column] = [...(columns[column] ?? []), [key, key === part.name ? part : undefined]];
    }
  }
  const places = new Map<string, Place>();
  let x = margin;
  for (const column of columns) {
    const width = Math.max(...column.map(([, part]) => (part ? widthOf(part) : 0)));
    let y = margin * 2;
    for (const [key, part] of column) {
      const height = part ? box : 0;
      places.set(key, { ...(part && { part }), x, y, width, height });
      y += height + between.boxes;
    }
    x += width + between.columns;
  }
  return places;
}

/** Where an arrow begins, what it passes, and where it ends: each a key of a place, with its column. */
function stops(from: string, to: string, columnOf: ReadonlyMap<string, number>): { key: string; column: number }[] {
  const [first, last] = [columnOf.get(from) ?? 0, columnOf.get(to) ?? 0];
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    key: index === 0 ? from : index === last - first ? to : JSON.stringify([from, to, first + index]),
    column: first + index,
  }));
}

function widthOf(part: GraphPart): number {
  return 20 + Math.ceil(Math.max(...linesOf(part).map((line, index) => [...line].length * (letters[index] ?? 0))));
}

/** What stands in a part's box. */
function linesOf(part: GraphPart): [string, string] {
  return [part.name, [part.kind, componentOf(part)].filter((word) => word !== "").join(", ")];
}

function componentOf({ component }: GraphPart): string {
  return component === null ? "" : `${component.type} ${component.name}`;
}

/** Pale colours, far apart for those that come one after the other. */
function coloursOf(parts: readonly GraphPart[]): ReadonlyMap<string, string> {
  const components = [...new Set(parts.map(componentOf))].filter((name) => name !== "");
  return new Map(components.map((name, index) => [name, `hsl(${(210 + index * 137) % 360} 70% 93%)`]));
}

function drawn({ part, x, y, width, height }: Place, colours: ReadonlyMap<string, string>): string[] {
  if (part === undefined) {
    return [];
  }
  const [name, kind] = linesOf(part);
  const fill = colours.get(componentOf(part)) ?? "#fff";
  return [
    `<g><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="${fill}" stroke="#667"/>`,
    `  <text x="${x + 10}" y="${y + 17}">${escaped(name)}</text>`,
    `  <text x="${x + 10}" y="${y + 32}" fill="#556" font-size="10">${escaped(kind)}</text></g>`,
  ];
}

/** Curves from column to column, and straight through those that it passes. */
function arrow(through: readonly { readonly key: string }[], places: Places): string {
  const way = through
    .flatMap(({ key }) => places.get(key) ?? [])
    .map((place) => ({
      left: place.x,
      right: place.x + place.width,
      middle: place.y + place.height / 2,
    }));
  const curves = way.slice(1).map(({ left, right, middle }, index) => {
    const from = way[index] ?? { right: left, middle };
    const bend = (from.right + left) / 2;
    const isLast = index === way.length - 2;
    return `C${bend} ${from.middle} ${bend} ${middle} ${left - (isLast ? 1 : 0)} ${middle}${isLast ? "" : `H${right}`}`;
  });
  const [start] = way;
  return `<path d="M${start?.right} ${start?.middle}${curves.join("")}" fill="none" stroke="#889" marker-end="url(#end)"/>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
