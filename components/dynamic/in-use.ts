/**
 * What the rows of this run have: a thing that a row has taken up again is not removed for the sake of the row's past.
 * That happens when a person goes back half-way through a replacement: the old thing is the new one's replacement then.
 */

export class InUse {
  private readonly things = new Set<string>();
  private readonly expected = new Set<string>();

  /**
   * The program of this run has the row. Of a row that it no longer has, the engine asks for a difference too, to learn
   * whether the removal of what the row's thing stands on removes the thing: that keeps nothing.
   */
  expect(row: string): void {
    this.expected.add(row);
  }

  /** Whether the program of this run has the row. */
  isExpected(row: string): boolean {
    return this.expected.has(row);
  }

  /** The row has the thing, and keeps it. */
  keep(row: string, id: string): void {
    this.things.add(keyOf(row, id));
  }

  /** The row has the thing, and will have another one. */
  release(row: string, id: string): void {
    this.things.delete(keyOf(row, id));
  }

  has(row: string, id: string): boolean {
    return this.things.has(keyOf(row, id));
  }
}

function keyOf(row: string, id: string): string {
  return JSON.stringify([row, id]);
}
