/**
 * What the rows of this run have: a thing that a row has taken up again is not removed for the sake of the row's past.
 * That happens when a person goes back half-way through a replacement: the old thing is the new one's replacement then.
 */

export class InUse {
  private readonly things = new Set<string>();

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
