/** The context of a Resource's verb, recording what it was told. */
import type { ApplyContext } from "../../cloud/resource";

export class RecordingContext<Actual> implements ApplyContext<Actual> {
  readonly progressed: string[] = [];
  readonly warned: string[] = [];
  readonly recorded: { id: string; actual: Actual }[] = [];
  private readonly controller = new AbortController();
  readonly signal = this.controller.signal;

  progress(message: string): void {
    this.progressed.push(message);
  }

  warn(message: string): void {
    this.warned.push(message);
  }

  made(id: string, actual: Actual): void {
    this.recorded.push({ id, actual });
  }

  interrupt(): void {
    this.controller.abort(new Error("the run was interrupted"));
  }
}
