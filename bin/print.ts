/**
 * Printing what was asked for. Whoever redirects it to a file must hear of it when the file did not get all.
 */
import { UserError } from "../cloud/errors";
import { unwritable } from "../setup/unwritable";

/** Writes the text to standard output; done when all of it is written. */
export async function print(text: string): Promise<void> {
  // Node would end the process by itself, with a stack trace.
  process.stdout.once("error", () => undefined);
  const error = await new Promise<Error | null | undefined>((resolve) => process.stdout.write(text, resolve));
  if (!error) {
    return;
  }
  const broken = "code" in error && error.code === "EPIPE";
  throw broken ? new UserError("Whoever was to read the output has ended.") : unwritable("Standard output", error);
}
