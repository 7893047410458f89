/**
 * Rows as columns of text, for a person. Pure.
 */

/** Each row as a line; every column as wide as its widest cell, two spaces apart. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** The same with a line of headings over it. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return `${columns([headings.map((heading) => heading.toUpperCase()), ...rows]).join("\n")}\n`;
}
