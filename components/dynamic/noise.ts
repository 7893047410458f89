/**
 * Keeps the dynamic provider from printing the stack trace of an error that it also hands to the engine,
 * which shows it on the resource's own row.
 */

const expected = new Set<string>();
let filtering = false;

/** Runs a verb whose errors the dynamic provider would print besides handing them on. */
export async function quietly<Result>(verb: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await verb();
  } catch (error) {
    filterConsole();
    // The very line that @pulumi/pulumi's cmd/dynamic-provider prints.
    expected.add(`${error}: ${error instanceof Error ? error.stack : undefined}`);
    throw error;
  }
}

function filterConsole(): void {
  if (filtering) {
    return;
  }
  filtering = true;
  const print = console.error;
  console.error = (...values: unknown[]) => {
    if (!(values.length === 1 && expected.delete(String(values[0])))) {
      print(...values);
    }
  };
}
